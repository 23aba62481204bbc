package graphexec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// Change is something that replays from now on do otherwise. Replays already enqueued
// do what they did. Operations are named by their number in the trace, "%3", or by the
// kernel or label that only one of them has. "%3/%1" is operation %1 of the body of %3, and "%3/else/%1" that of the
// second body of a branch.
type Change struct {
	name func() string // "swap @a and @b"
	// make edits, and says which operations that touches, ascending or not.
	make func(x *Exec, e *edits) ([]ir.OpID, error)
}

func (c Change) String() string {
	if c.name == nil {
		return "no change"
	}
	return c.name()
}

// Param gives a scalar parameter a value: a Go number that fits its type. A value with which a launch certainly leaves a slice that it is
// passed is refused, with the error that the launch has when it is recorded so: the plan does not order what is beyond the slice.
func Param(name string, value any) Change {
	return Change{func() string { return fmt.Sprintf("set $%s to %v", name, value) }, func(x *Exec, e *edits) ([]ir.OpID, error) {
		id, err := x.findParam(name)
		if err != nil {
			return nil, err
		}
		v, err := ir.NewScalar(x.prog.settings.params[id].Type, value)
		if err != nil {
			return nil, fmt.Errorf("parameter $%s: %w", name, err)
		}
		put(&e.params, id, v)
		return x.prog.users().param[id], nil
	}}
}

// Rebind puts a buffer where other memory is, of the same kind and at least the size. Reads and writes
// of the buffer through its trace follow; the memory that the trace has for it stays allocated. What was planned is an order between
// buffers, so the memory may not overlap that of another buffer.
func Rebind(buffer string, at device.Ptr) Change {
	return Change{func() string { return fmt.Sprintf("rebind @%s to %#x", buffer, uint64(at)) }, func(x *Exec, e *edits) ([]ir.OpID, error) {
		id, err := x.findBuffer(buffer)
		if err != nil {
			return nil, err
		}
		if at%parts.Alignment != 0 {
			return nil, fmt.Errorf("buffer @%s cannot begin at %#x: kernels rely on a multiple of %d", buffer, uint64(at), parts.Alignment)
		}
		e.move(id, at)
		return x.prog.users().buffer[id], nil
	}}
}

// Swap has two buffers of one size change places, as ping-pong buffers do.
func Swap(a, b string) Change {
	return Change{func() string { return fmt.Sprintf("swap @%s and @%s", a, b) }, func(x *Exec, e *edits) ([]ir.OpID, error) {
		i, errA := x.findBuffer(a)
		j, errB := x.findBuffer(b)
		if err := errors.Join(errA, errB); err != nil {
			return nil, err
		}
		if m, n := x.buffer(i).Size(), x.buffer(j).Size(); m != n {
			return nil, fmt.Errorf("buffers @%s and @%s cannot change places: they have %d and %d bytes", a, b, m, n)
		}
		if err := errors.Join(x.there(i, e), x.there(j, e)); err != nil {
			return nil, err
		}
		p, q := e.Address(i), e.Address(j)
		e.move(i, q)
		e.move(j, p)
		u := x.prog.users()
		return slices.Concat(u.buffer[i], u.buffer[j]), nil
	}}
}

// Grid gives a launch another number of blocks. It may touch nothing that it did not touch
// with the grid of the trace: trace with the largest.
func Grid(op string, grid ir.Dim3) Change {
	return Change{func() string { return fmt.Sprintf("launch %s with a grid of (%d,%d,%d)", op, grid.X, grid.Y, grid.Z) }, func(x *Exec, e *edits) ([]ir.OpID, error) {
		id, err := x.findOp(op)
		if err != nil {
			return nil, err
		}
		if err := x.fits(id, grid); err != nil {
			return nil, x.prog.about(id, err)
		}
		put(&e.grid, id, grid)
		return []ir.OpID{id}, nil
	}}
}

// Enable has an operation run, or be skipped: what comes after it comes after what it came
// after, and finds what was there before.
func Enable(op string, on bool) Change {
	verb := "enable"
	if !on {
		verb = "disable"
	}
	return Change{func() string { return verb + " " + op }, func(x *Exec, e *edits) ([]ir.OpID, error) {
		id, err := x.findOp(op)
		if err == nil {
			err = x.asTraced()
		}
		if err != nil {
			return nil, err
		}
		put(&e.off, id, !on)
		return []ir.OpID{id}, nil
	}}
}

func (x *Exec) buffer(id ir.BufferID) *ir.Buffer { return &x.prog.sched.Graph.Buffers[id] }

// listed are the names of buffers, not all of many.
func listed(buffers []ir.Buffer) string {
	const most = 8
	var names []string
	for i := range buffers[:min(len(buffers), most)] {
		names = append(names, "@"+buffers[i].Name)
	}
	if more := len(buffers) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// findBuffer is a buffer that can be elsewhere.
func (x *Exec) findBuffer(name string) (ir.BufferID, error) {
	_, err := x.pointerOf(name)
	id := x.prog.users().named[name]
	switch {
	case err != nil:
		return 0, err
	case x.prog.inArena(id):
		return 0, fmt.Errorf("buffer @%s lies in the arena of the replay, with others: plan without memplan", name)
	}
	for _, op := range x.prog.users().buffer[id] {
		if x.prog.op(op).Kind == ir.KindHost {
			return 0, fmt.Errorf("buffer @%s is used by host call %s, which would go on with the memory that it has", name, x.prog.name(op))
		}
	}
	return id, nil
}

// pointerOf is the address of a buffer of a name.
func (x *Exec) pointerOf(name string) (device.Ptr, error) {
	g := x.prog.sched.Graph
	id, ok := x.prog.users().named[name]
	switch {
	case !ok:
		return 0, fmt.Errorf("no buffer @%s in %s: it has %s", name, g.Name, listed(g.Buffers))
	case x.prog.settings.pointer[id] == 0:
		return 0, fmt.Errorf("buffer @%s is used by no operation", name)
	}
	return x.prog.settings.pointer[id], nil
}

func (p *program) inArena(id ir.BufferID) bool {
	placed, ok := p.bound.(placed)
	return ok && placed.holds(id)
}

// findOp returns the operation of a name, by its number in the whole program.
func (x *Exec) findOp(name string) (found ir.OpID, err error) {
	if name == "" {
		return 0, fmt.Errorf("%w: the operation to change: use a number such as %%0, a kernel or a label", ir.ErrMissing)
	}
	g := x.prog.sched.Graph
	var all []string
	for _, p := range x.prog.programs() {
		local := p.sched.Graph
		path, number := p.path(), ""
		if strings.HasPrefix(name, path+"%") {
			number = name[len(path):]
		}
		for i := range local.Ops {
			v := ir.OpID(i)
			if op := &local.Ops[i]; number != "" && number == local.Traced(v).String() || name == op.Label || op.Kind == ir.KindLaunch && name == op.Launch.Entry {
				found, all = p.first+v, append(all, x.prog.name(p.first+v))
			}
		}
	}
	switch len(all) {
	case 0:
		return 0, fmt.Errorf("no operation %s in %s: use a number such as %%0, a kernel or a label", name, g.Name)
	case 1:
		return found, nil
	}
	return 0, fmt.Errorf("%d operations are called %s: use the number of one of %s", len(all), name, strings.Join(all, ", "))
}

// asTraced says why not every write can be done without: passes have relied on it.
func (x *Exec) asTraced() error {
	if x.prog.sched.Graph.Origin != nil || x.prog.sched.Offset != nil {
		return errors.New("the plan relies on what every operation writes: plan without copyelim, dce, unroll and memplan")
	}
	return nil
}

// stays says why a launch cannot have the parameters and the grid of the edits.
func (x *Exec) stays(id ir.OpID, e *edits) error {
	launch := x.prog.op(id).Launch
	trace := traced.Of(x.prog.trace())
	if trace == nil || launch == nil || len(e.params) == 0 && len(e.grid) == 0 {
		return nil
	}
	q, v := x.prog.find(id)
	return trace.Stays(q.sched.Graph, v, e.gridOf(id, launch), e.Value)
}

// fits says why a launch cannot have another grid.
func (x *Exec) fits(id ir.OpID, grid ir.Dim3) error {
	op := x.prog.op(id)
	if op.Kind != ir.KindLaunch {
		return errors.New("it is no launch and has no grid")
	}
	if err := x.asTraced(); err != nil {
		return err
	}
	if grid == op.Launch.Grid {
		return nil
	}
	trace := traced.Of(x.prog.trace())
	if trace == nil {
		return errors.New("what it would touch with another grid is not known: the trace was read from a file")
	}
	reach, err := trace.Reach(op.Launch, grid)
	if err != nil {
		return err
	}
	for _, a := range reach {
		if !slices.ContainsFunc(op.Uses, func(t ir.Access) bool { return covers(t, a) }) {
			b := x.buffer(a.Buffer).Name
			return fmt.Errorf("with a grid of (%d,%d,%d) it would touch @%s[%d:%d], which is more than the plan contains: trace it with the largest grid", grid.X, grid.Y, grid.Z, b, a.Lo, a.Hi)
		}
	}
	return nil
}

// covers reports whether who is ordered for t is ordered for a.
func covers(t, a ir.Access) bool {
	return t.Buffer == a.Buffer && t.Lo <= a.Lo && a.Hi <= t.Hi && (t.Mode == a.Mode || t.Mode == ir.ReadWrite)
}

// trace is the bindings without the arena.
func (p *program) trace() Bindings {
	if placed, ok := p.bound.(placed); ok {
		return placed.Bindings
	}
	return p.bound
}
