package graphexec

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/opname"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// bodyPlace identifies a body by the loop or branch that contains it.
type bodyPlace struct {
	of *program // the program around it; nil for the outermost
	op ir.OpID  // the loop or branch, in the schedule of that program
	n  int      // 1 for the second body of a branch, else 0
}

// lowerBodies lowers the bodies of loops and branches, depth first. A body is appended to
// outermost.inner before its own bodies are lowered, so that inner ascends by program.first, which
// find relies on.
func (p *program) lowerBodies(outermost *program, next *ir.OpID) error {
	for v := range p.sched.Graph.Ops {
		for n, s := range p.sched.Bodies[ir.OpID(v)] {
			body := &program{sched: s, bound: p.bound, functions: p.functions, settings: p.settings, place: bodyPlace{p, ir.OpID(v), n}}
			outermost.inner = append(outermost.inner, body)
			if err := body.lower(outermost, next); err != nil {
				return err
			}
			put(&p.bodies, ir.OpID(v), append(p.bodies[ir.OpID(v)], body))
		}
	}
	return nil
}

// controlled reports whether a program has loops or branches.
func (p *program) controlled() bool { return p.bodies != nil }

// find returns the program whose schedule contains operation id of the whole program, and the number
// of the operation in that schedule. Numbers are assigned in depth-first order:
//
//	schedule   %0 %1(loop) %2           0  1  2      first = 0
//	body of %1    %0 %1(branch)         3  4         first = 3
//	body of %1/%1    %0                 5            first = 5
//
// It is a binary search in inner: O(log bodies).
func (p *program) find(id ir.OpID) (*program, ir.OpID) {
	at, found := slices.BinarySearchFunc(p.inner, id, func(q *program, id ir.OpID) int { return int(q.first - id) })
	if !found {
		at--
	}
	if at >= 0 { // an empty body has the same first as the next one: skip it
		for p.inner[at].first+ir.OpID(len(p.inner[at].work)) <= id {
			at++
		}
		p = p.inner[at]
	}
	return p, id - p.first
}

// op returns operation id of the whole program.
func (p *program) op(id ir.OpID) *ir.Op {
	q, v := p.find(id)
	return &q.sched.Graph.Ops[v]
}

// workOf returns the present work of operation id of the whole program.
func (p *program) workOf(id ir.OpID) device.Work {
	q, v := p.find(id)
	return q.work[v]
}

// name returns the name of operation id of the whole program: "square#2 at vec.go:41", or "solve/square at vec.go:40" in
// the body of the loop or branch solve.
func (p *program) name(id ir.OpID) string {
	q, v := p.find(id)
	return q.nameHere(v)
}

// nameHere returns the same name for operation v of the schedule of p.
func (p *program) nameHere(v ir.OpID) string {
	return p.path() + parts.At(p.opNames().Of(v), &p.sched.Graph.Ops[v])
}

// opNames returns the names of the operations of the schedule of p, without their path.
func (p *program) opNames() *opname.Names {
	if p.named == nil {
		p.named = opname.Of(p.sched.Graph)
	}
	return p.named
}

// path returns the prefix of the names of operations in a body: "solve/", or "choose/else/" in the second body of a
// branch. It is empty for the outermost program.
func (p *program) path() string {
	at := p.place
	if at.of == nil {
		return ""
	}
	return opname.Path(at.of.path()+at.of.opNames().Of(at.op), at.n)
}

// numbers returns the same prefix of numbers: "%1/", or "%1/else/".
func (p *program) numbers() string {
	at := p.place
	if at.of == nil {
		return ""
	}
	return opname.Path(at.of.numbers()+traced.Origin(at.of.sched.Graph, at.op).String(), at.n)
}

// error adds the name of an operation of the schedule of p to an error.
func (p *program) error(v ir.OpID, err error) error {
	return fmt.Errorf("%s: %w", p.nameHere(v), err)
}

// about adds the name of operation id of the whole program to an error.
func (p *program) about(id ir.OpID, err error) error {
	q, v := p.find(id)
	return q.error(v, err)
}

// programs returns p and all its bodies.
func (p *program) programs() []*program { return append([]*program{p}, p.inner...) }

// clone returns a copy of the outermost program p with its own settings and work. The copy shares
// the schedules, the bindings and the functions, which do not change.
func (p *program) clone() *program {
	settings := p.settings.clone()
	c := &program{inner: make([]*program, 0, len(p.inner))}
	p.copyTo(c, c, &settings)
	return c
}

// copyTo copies p to c, except for the place and the list of bodies of c, which the caller has set.
// It appends the copies of the bodies to outermost.inner in the order of lowerBodies.
func (p *program) copyTo(c, outermost *program, s *settings) {
	inner, place := c.inner, c.place
	*c = *p
	c.inner, c.place, c.settings, c.work = inner, place, s, slices.Clone(p.work)
	c.bodies = nil
	for v := range p.sched.Graph.Ops {
		for n, body := range p.bodies[ir.OpID(v)] {
			copied := &program{place: bodyPlace{c, ir.OpID(v), n}}
			outermost.inner = append(outermost.inner, copied)
			body.copyTo(copied, outermost, s)
			put(&c.bodies, ir.OpID(v), append(c.bodies[ir.OpID(v)], copied))
		}
	}
}

// writes reports whether an operation that is enabled under the edits e may write some bytes of r. A
// loop or a branch counts if an enabled operation of its bodies does.
func (p *program) writes(r ir.Range, e *edits) bool {
	for v, writes := range parts.Writers(p.sched.Graph, r) {
		id := ir.OpID(v)
		if !writes || e.isOff(p.first+id) {
			continue
		}
		if p.sched.Graph.Ops[v].Control == nil || slices.ContainsFunc(p.bodies[id], func(q *program) bool { return q.writes(r, e) }) {
			return true
		}
	}
	return false
}
