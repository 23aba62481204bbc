package graphexec

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/observe"
	"github.com/reprise-gpu/reprise/ir"
)

// Verdict describes the cost of one change.
type Verdict struct {
	Change     Change
	Operations int // number of operations that the change updates
	// Rebuild is the reason why the graph must be instantiated again. It is empty if every operation
	// can be updated in place.
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

// Preflight returns what Apply of the same changes would do, one verdict per change in the given
// order. It changes nothing. For changes that are not possible it returns the error of Apply.
func (x *Exec) Preflight(changes ...Change) ([]Verdict, error) {
	if x.closed() {
		return nil, errClosed
	}
	_, verdicts, err := x.plan(changes)
	return verdicts, err
}

// Apply makes changes for all later replays. It applies either all changes or none; replays that are
// already enqueued are not affected.
//
// Operations are updated in place where the device allows it. For a graph that takes one call into
// the device, for streams one call per operation in a group and none for the others. Otherwise the
// graph, or the command list with its groups, is instantiated again, which waits for the replays in
// flight. If the device fails in between, the error names the operation, and Apply restores the
// earlier work of as many operations as the device accepts.
func (x *Exec) Apply(changes ...Change) error {
	if err := x.begin(); err != nil {
		return err
	}
	defer x.end()
	if err := x.midway(); err != nil {
		return err
	}
	p, verdicts, err := x.plan(changes)
	if err != nil {
		return err
	}
	return x.apply(p, verdicts)
}

// apply makes planned changes. It has three stages, each tried only if the one before is not enough:
//
//	update in place ─► on an error: restore the present work ─► if the node refuses: rebuild
//
// When apply returns an error, the program describes the state before it, and so does the device as
// far as it has accepted the restored work.
func (x *Exec) apply(p *planned, verdicts []Verdict) error {
	if i := slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Rebuild != "" }); i >= 0 {
		return x.rebuild(p, verdicts[i].String())
	}
	at, err := x.impl.update(p.works)
	if err == nil {
		x.stats.Updates += len(p.works)
		x.adopt(p)
		return nil
	}
	_, _ = x.impl.update(x.present(p.works)) // an error would only repeat the first
	// Only a node of an instantiated graph can refuse work that a new instance would accept. Any other
	// failure would fail again.
	if op := p.works[at].op; !x.impl.keeps(op) || !refusesNodes(err) {
		return x.prog.about(op, err)
	}
	return x.rebuild(p, err.Error())
}

// refusesNodes reports whether an error means that the driver does not accept the new work for an
// existing node. Preflight cannot predict that for every driver: older ones refuse more updates. For
// a copy between memory that is mapped differently, cuGraphExecMemcpyNodeSetParams returns
// CUDA_ERROR_INVALID_VALUE.
func refusesNodes(err error) bool {
	switch device.CodeOf(err) {
	case device.GraphUpdateForbidden, device.NotSupported, device.InvalidValue:
		return true
	}
	return false
}

// Set sets a scalar parameter for later replays. The value is a Go number that fits the type of the
// parameter: see the function [Param].
func (x *Exec) Set(name string, value any) error { return x.Apply(Param(name, value)) }

// opWork is an operation and the device work that it is to do.
type opWork struct {
	op   ir.OpID // in the whole program
	work device.Work
}

// planned holds changes that have been checked and lowered, but not made.
type planned struct {
	edits
	works []opWork                          // ascending by operation, each operation once
	homes map[ir.BufferID]device.Allocation // of the buffers that the changes bind
}

// plan checks and lowers changes without making them. Later changes see the effect of earlier ones:
// two swaps of the same buffers cancel out.
//
//	changes ─► edits ─► place: addresses ─► verdicts ─► lasting: freed memory
//	                                    ─► for each touched operation: stays, lowerOp ─► ends
//
// The cost is proportional to the operations that the changes touch, not to the program.
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

// ends returns an error for an enabled loop if all operations that write its scalar are disabled.
// Such a loop would run to its limit, or forever.
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

// ascending merges lists of operations into one sorted list without duplicates.
func ascending(lists ...[]ir.OpID) []ir.OpID {
	ops := slices.Concat(lists...)
	slices.Sort(ops)
	return slices.Compact(ops)
}

// mustRebuild returns the reason why operations cannot be updated in place when the buffers moved
// have new addresses, or "". An instance of a graph fixes two properties of its nodes:
//
//   - A node that was empty at instantiation stays empty, because cuGraphExec*NodeSetParams cannot
//     change the type of a node.
//   - A copy node keeps whether each of its ends is pinned host memory.
func (x *Exec) mustRebuild(ops []ir.OpID, moved []ir.BufferID, p *planned) string {
	for _, op := range ops {
		switch off := p.isOff(op); {
		case off == x.blank[op] || !x.impl.keeps(op): // the type of the node does not change, or there is none
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

// present returns the current work of the same operations. Updating with it undoes works.
func (x *Exec) present(works []opWork) []opWork {
	was := make([]opWork, len(works))
	for i, w := range works {
		was[i] = opWork{w.op, x.prog.workOf(w.op)}
	}
	return was
}

// before returns the plan that undoes p. It must be called before p is applied.
func (x *Exec) before(p *planned) *planned {
	was := &planned{edits: p.undone(), works: x.present(p.works)}
	for id := range p.homes {
		put(&was.homes, id, x.memory.homes[id])
	}
	return was
}

// adopt records applied changes in the program: settings, addresses, work and allocations.
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

// rebuild makes changes by instantiating again. The changes are adopted first, because the back end
// is built from the program, and are taken back if that fails.
func (x *Exec) rebuild(p *planned, reason string) error {
	observe.Log("instantiated again", func() []slog.Attr {
		return []slog.Attr{slog.String("program", x.prog.sched.Graph.Name), slog.String("reason", reason)}
	})
	was := x.before(p)
	x.adopt(p)
	if err := x.renew(); err != nil {
		x.adopt(was)
		return fmt.Errorf("instantiate %s again: %w", x.prog.sched.Graph.Name, err)
	}
	return nil
}

// renew instantiates the present program again and records which operations are empty in it.
func (x *Exec) renew() error {
	if err := x.impl.rebuild(); err != nil {
		return err
	}
	x.blank = maps.Clone(x.prog.settings.off)
	x.stats.Rebuilds++
	return nil
}
