package graphexec

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// Verdict says what a change takes.
type Verdict struct {
	Change     string
	Operations int // that are updated
	// Rebuild says why the graph has to be instantiated again; "" when every operation is
	// changed in place.
	Rebuild string
}

func (v Verdict) String() string {
	if v.Rebuild != "" {
		return fmt.Sprintf("%s: rebuild: %s", v.Change, v.Rebuild)
	}
	return fmt.Sprintf("%s: %d operations in place", v.Change, v.Operations)
}

// Preflight says what Apply of the same changes would do, and does nothing. The error is that
// of Apply for changes that are not possible.
func (x *Exec) Preflight(changes ...Change) ([]Verdict, error) {
	if x.impl == nil {
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
	switch code := device.CodeOf(err); {
	case err == nil:
		x.stats.Updates += len(p.works)
		x.adopt(p)
		return nil
	case x.impl.keeps(p.works[at].op) && (code == device.GraphUpdateForbidden || code == device.NotSupported):
		return x.rebuild(p) // the driver is older, or stricter, than what Preflight goes by
	}
	_, _ = x.impl.update(x.present(p.works[:at])) // an error would only repeat the first
	return opError(x.prog.sched.Graph, p.works[at].op, err)
}

// Set gives a scalar parameter another value: see Param.
func (x *Exec) Set(name string, value any) error { return x.Apply(Param(name, value)) }

// Rebind puts a buffer elsewhere: see the function.
func (x *Exec) Rebind(buffer string, at device.Ptr) error { return x.Apply(Rebind(buffer, at)) }

// Swap has two buffers change places: see the function.
func (x *Exec) Swap(a, b string) error { return x.Apply(Swap(a, b)) }

// opWork is what an operation is to do.
type opWork struct {
	op   ir.OpID
	work device.Work
}

// planned is a number of changes, worked out.
type planned struct {
	settings settings
	works    []opWork
	serials  []uint64
}

// plan works out changes, in order.
func (x *Exec) plan(changes []Change) (*planned, []Verdict, error) {
	p := &planned{settings: x.prog.settings.clone()}
	var verdicts []Verdict
	var all []ir.OpID
	for _, c := range changes {
		was := slices.Clone(p.settings.pointer)
		ops, err := c.make(x, &p.settings)
		if err != nil {
			return nil, nil, err
		}
		slices.Sort(ops)
		ops = slices.Compact(ops)
		all = append(all, ops...)
		verdicts = append(verdicts, Verdict{Change: c.name, Operations: len(ops), Rebuild: x.mustRebuild(ops, was, p.settings.pointer)})
	}
	if err := x.place(p); err != nil {
		return nil, nil, err
	}
	slices.Sort(all)
	for _, op := range slices.Compact(all) {
		w, err := x.prog.lowerOp(op, &p.settings)
		if err != nil {
			return nil, nil, opError(x.prog.sched.Graph, op, err)
		}
		p.works = append(p.works, opWork{op, w})
	}
	return p, verdicts, nil
}

// mustRebuild says why operations cannot be changed in place when buffers move. The instance of a graph keeps for each copy
// whether its ends are pinned memory.
func (x *Exec) mustRebuild(ops []ir.OpID, from, to []device.Ptr) string {
	if x.memory == nil {
		return ""
	}
	for _, op := range ops {
		c := x.prog.sched.Graph.Ops[op].Copy
		if c == nil || !x.impl.keeps(op) {
			continue
		}
		for _, b := range []ir.BufferID{c.Dst.Buffer, c.Src.Buffer} {
			was, is := x.memory.kind(from[b]), x.memory.kind(to[b])
			if was != is && (was == device.PinnedMemory || is == device.PinnedMemory) {
				return fmt.Sprintf("%s would move from %v to %v, and a node keeps the kind of its ends", opName(x.prog.sched.Graph, op), was, is)
			}
		}
	}
	return ""
}

// present is what operations do now.
func (x *Exec) present(works []opWork) []opWork {
	was := make([]opWork, len(works))
	for i, w := range works {
		was[i] = opWork{w.op, x.prog.work[w.op]}
	}
	return was
}

// before is what undoes changes that are still to be made.
func (x *Exec) before(p *planned) *planned {
	was := &planned{settings: x.prog.settings, works: x.present(p.works)}
	if x.memory != nil {
		was.serials = x.memory.serial
	}
	return was
}

// adopt makes what was applied the present.
func (x *Exec) adopt(p *planned) {
	x.prog.settings = p.settings
	for _, w := range p.works {
		x.prog.work[w.op] = w.work
	}
	if x.memory != nil {
		x.memory.serial = p.serials
	}
}

// rebuild instantiates again, with changes.
func (x *Exec) rebuild(p *planned) error {
	was := x.before(p)
	x.adopt(p)
	if err := x.impl.rebuild(); err != nil {
		x.adopt(was)
		return fmt.Errorf("instantiate %s again: %w", x.prog.sched.Graph.Name, err)
	}
	x.stats.Rebuilds++
	return nil
}
