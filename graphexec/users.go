package graphexec

import (
	"github.com/reprise-gpu/reprise/ir"
)

// users is an index of the operations that use a parameter or a buffer, for changes. Operations are
// numbered in the whole program; each list is ascending, without duplicates.
type users struct {
	param  [][]ir.OpID // by parameter: launches that take it
	buffer [][]ir.OpID // by buffer: operations with the buffer as an operand
	named  map[string]ir.BufferID
}

// users returns the index. The first call builds it, because most programs never change.
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

// add adds an operation to the lists of its operands. The only operand of a loop or a branch is its
// scalar; the operations of its bodies are added separately.
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

// addOnce appends op to an ascending list unless the list already ends with it.
func addOnce(list *[]ir.OpID, op ir.OpID) {
	if n := len(*list); n == 0 || (*list)[n-1] != op {
		*list = append(*list, op)
	}
}

// eachOp calls f for the operations of all bodies, including nested ones.
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
