package graphexec

import (
	"github.com/reprise-gpu/reprise/ir"
)

// users lists the operations that a change of something touches, by their numbers in the whole program, ascending.
type users struct {
	param  [][]ir.OpID // launches that take a parameter
	buffer [][]ir.OpID // operations that are given a buffer
	named  map[string]ir.BufferID
}

// users are made when the first change needs them: most programs never change.
func (p *program) users() *users {
	if p.used != nil {
		return p.used
	}
	g := p.sched.Graph
	u := &users{make([][]ir.OpID, len(g.Params)), make([][]ir.OpID, len(g.Buffers)), make(map[string]ir.BufferID, len(g.Buffers))}
	for i := range g.Buffers {
		u.named[g.Buffers[i].Name] = ir.BufferID(i)
	}
	for _, q := range p.programs() {
		for v := range q.sched.Graph.Ops {
			u.add(q.first+ir.OpID(v), &q.sched.Graph.Ops[v])
		}
	}
	p.used = u
	return u
}

// add adds an operation as a user of what it is given. A loop or a branch is given its scalar alone; its bodies have
// operations of their own.
func (u *users) add(id ir.OpID, op *ir.Op) {
	switch {
	case op.Control != nil:
		addOnce(&u.buffer[op.Control.Scalar.Buffer], id)
	case op.Kind == ir.KindLaunch:
		for _, a := range op.Launch.Args {
			switch a.Kind {
			case ir.ArgParam:
				addOnce(&u.param[a.Param], id)
			case ir.ArgBuffer:
				addOnce(&u.buffer[a.Buffer], id)
			}
		}
	default:
		var scratch [2]ir.Access
		for _, a := range op.Accesses(&scratch) {
			addOnce(&u.buffer[a.Buffer], id)
		}
	}
}

// addOnce appends an operation to an ascending list that may end with it.
func addOnce(list *[]ir.OpID, op ir.OpID) {
	if n := len(*list); n == 0 || (*list)[n-1] != op {
		*list = append(*list, op)
	}
}

// eachOp calls f for the operations of all bodies, those of nested ones too.
func eachOp(c *ir.Control, f func(*ir.Op)) {
	for _, body := range c.Bodies {
		for v := range body.Ops {
			f(&body.Ops[v])
			if inner := body.Ops[v].Control; inner != nil {
				eachOp(inner, f)
			}
		}
	}
}
