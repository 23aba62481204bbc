package graphexec

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// Verdict says what a change takes.
type Verdict struct {
	Change     Change
	Operations int // that are updated
	// Rebuild says why the graph has to be instantiated again; "" when every operation is
	// changed in place.
	Rebuild string
}

func (v Verdict) String() string {
	if v.Rebuild != "" {
		return fmt.Sprintf("%s: rebuild: %s", v.Change, v.Rebuild)
	}
	if v.Operations == 1 {
		return fmt.Sprintf("%s: one operation in place", v.Change)
	}
	return fmt.Sprintf("%s: %d operations in place", v.Change, v.Operations)
}

// Preflight says what Apply of the same changes would do, and does nothing. The error is that
// of Apply for changes that are not possible.
func (x *Exec) Preflight(changes ...Change) ([]Verdict, error) {
	if x.closed() {
		return nil, errClosed
	}
	_, verdicts, err := x.plan(changes)
	return verdicts, err
}

// Apply makes changes for the replays that follow, all or none. Operations change in place,
// in one call into the device for a graph, and none for streams but one for each in a group; where that cannot be
// done the graph, or the list with its groups, is instantiated again, which waits for the replays under way. The error of a device
// that fails in between names the operation, and what could be changed back was.
func (x *Exec) Apply(changes ...Change) error {
	if err := x.begin(); err != nil {
		return err
	}
	defer x.end()
	p, verdicts, err := x.plan(changes)
	if err != nil {
		return err
	}
	return x.apply(p, verdicts)
}

// apply makes changes that were worked out.
func (x *Exec) apply(p *planned, verdicts []Verdict) error {
	if slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Rebuild != "" }) {
		return x.rebuild(p)
	}
	at, err := x.impl.update(p.works)
	if err == nil {
		x.stats.Updates += len(p.works)
		x.adopt(p)
		return nil
	}
	_, _ = x.impl.update(x.present(p.works)) // an error would only repeat the first
	if op := p.works[at].op; !x.impl.keeps(op) || !refusesNodes(err) {
		return x.prog.about(op, err)
	}
	return x.rebuild(p)
}

// refusesNodes is whether a driver that is older, or stricter, than what Preflight goes by will not have a node do other work.
// For a copy whose ends are mapped otherwise than before, cuGraphExecMemcpyNodeSetParams answers that a value is invalid.
func refusesNodes(err error) bool {
	switch device.CodeOf(err) {
	case device.GraphUpdateForbidden, device.NotSupported, device.InvalidValue:
		return true
	}
	return false
}

// Set gives a scalar parameter another value, a Go number that fits its type, for later replays: see the function [Param].
func (x *Exec) Set(name string, value any) error { return x.Apply(Param(name, value)) }

// opWork is the new work of an operation.
type opWork struct {
	op   ir.OpID // in the whole program
	work device.Work
}

// planned is a number of changes, worked out.
type planned struct {
	edits
	works []opWork
	homes map[ir.BufferID]device.Allocation // the memory of those that are bound anew
}

// plan works out changes, in order.
func (x *Exec) plan(changes []Change) (*planned, []Verdict, error) {
	p := &planned{edits: edits{of: x.prog.settings}}
	touched, moved := make([][]ir.OpID, len(changes)), make([][]ir.BufferID, len(changes))
	for i, c := range changes {
		before := len(p.moves)
		var err error
		if c.make == nil {
			return nil, nil, fmt.Errorf("%w: change %d is none: use Param, Rebind, Swap, Grid or Enable", ir.ErrMissing, i)
		}
		if touched[i], err = c.make(x, &p.edits); err != nil {
			return nil, nil, err
		}
		moved[i] = p.moves[before:]
	}
	if err := x.place(p); err != nil {
		return nil, nil, err
	}
	verdicts := make([]Verdict, len(changes))
	for i, c := range changes {
		ops := ascending(touched[i])
		verdicts[i] = Verdict{Change: c, Operations: len(ops), Rebuild: x.mustRebuild(ops, moved[i], p)}
	}
	all := ascending(touched...)
	if err := x.lasting(p, all); err != nil {
		return nil, nil, err
	}
	for _, op := range all {
		if err := x.stays(op, &p.edits); err != nil {
			return nil, nil, x.prog.about(op, err)
		}
		q, v := x.prog.find(op)
		w, err := q.lowerOp(v, &p.edits)
		if err != nil {
			return nil, nil, q.error(v, err)
		}
		p.works = append(p.works, opWork{op, w})
	}
	return p, verdicts, x.prog.ends(&p.edits)
}

// ends returns an error for a loop that is on while all operations that write its scalar are off.
func (p *program) ends(e *edits) error {
	if len(e.off) == 0 {
		return nil
	}
	for _, q := range p.inner {
		around, v := q.place.of, q.place.op
		op := &around.sched.Graph.Ops[v]
		if op.Kind == ir.KindLoop && !e.isOff(around.first+v) && !q.writes(op.Control.Scalar, e) {
			return around.error(v, errEndless)
		}
	}
	return nil
}

var errEndless = errors.New("all operations of its body that write the scalar are off, so that it cannot end: leave one on, or disable the loop")

// ascending are the operations of lists, each once.
func ascending(lists ...[]ir.OpID) []ir.OpID {
	ops := slices.Concat(lists...)
	slices.Sort(ops)
	return slices.Compact(ops)
}

// mustRebuild says why operations cannot be changed in place when some buffers move. The instance of a graph keeps what was off
// when it was made, and for each copy whether its ends are pinned memory.
func (x *Exec) mustRebuild(ops []ir.OpID, moved []ir.BufferID, p *planned) string {
	for _, op := range ops {
		switch off := p.isOff(op); {
		case off == x.blank[op] || !x.impl.keeps(op):
		case x.blank[op]:
			return fmt.Sprintf("%s was off when the graph was instantiated, and such a node stays off", x.prog.name(op))
		case x.prog.op(op).Control != nil:
			return fmt.Sprintf("%s is a conditional node, which cannot be switched off", x.prog.name(op))
		}
	}
	if x.memory == nil || len(moved) == 0 {
		return ""
	}
	for _, op := range ops {
		c := x.prog.op(op).Copy
		if c == nil || !x.impl.keeps(op) {
			continue
		}
		for _, b := range []ir.BufferID{c.Dst.Buffer, c.Src.Buffer} {
			if !slices.Contains(moved, b) {
				continue
			}
			was, is := x.memory.homes[b].Kind, p.homes[b].Kind
			if was != is && (was == device.PinnedMemory || is == device.PinnedMemory) {
				return fmt.Sprintf("%s would move from %v to %v, and a node keeps the kind of its ends", x.prog.name(op), was, is)
			}
		}
	}
	return ""
}

// present is what operations do now.
func (x *Exec) present(works []opWork) []opWork {
	was := make([]opWork, len(works))
	for i, w := range works {
		was[i] = opWork{w.op, x.prog.workOf(w.op)}
	}
	return was
}

// before is what undoes changes that are still to be made.
func (x *Exec) before(p *planned) *planned {
	was := &planned{edits: p.undone(), works: x.present(p.works)}
	for id := range p.homes {
		put(&was.homes, id, x.memory.homes[id])
	}
	return was
}

// adopt makes what was applied the present.
func (x *Exec) adopt(p *planned) {
	p.edits.adopt()
	for id, at := range p.pointer {
		x.prog.bound.Bind(id, at)
	}
	for _, w := range p.works {
		q, v := x.prog.find(w.op)
		q.work[v] = w.work
	}
	for id, home := range p.homes {
		x.memory.homes[id] = home
	}
}

// rebuild instantiates again, with changes.
func (x *Exec) rebuild(p *planned) error {
	was := x.before(p)
	x.adopt(p)
	if err := x.renew(); err != nil {
		x.adopt(was)
		return fmt.Errorf("instantiate %s again: %w", x.prog.sched.Graph.Name, err)
	}
	return nil
}

// renew instantiates again, with what operations do now.
func (x *Exec) renew() error {
	if err := x.impl.rebuild(); err != nil {
		return err
	}
	x.blank = maps.Clone(x.prog.settings.off)
	x.stats.Rebuilds++
	return nil
}
