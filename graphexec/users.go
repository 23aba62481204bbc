package graphexec

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// users lists the operations that a change of something touches, ascending.
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
	add := func(list *[]ir.OpID, op ir.OpID) {
		if !slices.Contains((*list)[max(0, len(*list)-1):], op) { // once each
			*list = append(*list, op)
		}
	}
	var scratch [2]ir.Access
	for i := range g.Ops {
		id, op := ir.OpID(i), &g.Ops[i]
		if op.Control != nil {
			u.addBodies(id, op.Control, add)
			continue
		}
		if op.Kind != ir.KindLaunch {
			accesses := op.Accesses(&scratch)
			for _, a := range accesses {
				add(&u.buffer[a.Buffer], id)
			}
			continue
		}
		for _, a := range op.Launch.Args {
			switch a.Kind {
			case ir.ArgParam:
				add(&u.param[a.Param], id)
			case ir.ArgBuffer:
				add(&u.buffer[a.Buffer], id)
			}
		}
	}
	p.used = u
	return u
}

// addBodies adds a loop or a branch as a user of all that operations of its bodies are given.
func (u *users) addBodies(id ir.OpID, c *ir.Control, add func(*[]ir.OpID, ir.OpID)) {
	add(&u.buffer[c.Scalar.Buffer], id)
	eachOp(c, func(op *ir.Op) {
		for _, a := range op.Accesses(new([2]ir.Access)) {
			add(&u.buffer[a.Buffer], id)
		}
		if op.Launch == nil {
			return
		}
		for _, a := range op.Launch.Args {
			switch a.Kind {
			case ir.ArgParam:
				add(&u.param[a.Param], id)
			case ir.ArgBuffer:
				add(&u.buffer[a.Buffer], id)
			}
		}
	})
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
