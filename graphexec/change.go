package graphexec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// Change is a modification of a program that takes effect in later replays. Replays that are already
// enqueued are not affected. Make one with Param, Rebind, Swap, Grid or Enable; the zero value is
// none and an error.
//
// An operation is named by its label (see tracer.Op.Named), or by its kernel. If several operations have the same, each has
// its number among them: "axpy#2". A copy, fill or prefetch without a label is named by the buffer that it writes, as in
// "copy:x". "solve/axpy" is an operation in the body of the loop solve, and "choose/else/axpy" one in the second body of a
// branch. The number in the trace, "%3", is a name, too.
type Change struct {
	name func() string // "swap @a and @b"
	// make adds the change to e and returns the operations whose work it changes, in any order.
	make func(x *Exec, e *edits) ([]ir.OpID, error)
}

func (c Change) String() string {
	if c.name == nil {
		return "no change"
	}
	return c.name()
}

// Param sets a scalar parameter. The value is a Go number that fits the type of the parameter.
//
// A value is refused if a launch would certainly access memory outside a slice that it is passed,
// with the error that recording the launch would return: the plan orders accesses inside the slice
// only.
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

// Rebind binds a buffer to other memory at a device address. The memory must have the same kind and
// at least the size of the buffer, and the address must be a multiple of 256 bytes. The memory must
// not overlap that of another buffer, because the plan orders accesses by buffer.
//
// Later reads and writes of the buffer through its trace use the new memory. The memory that the
// trace has allocated for it remains allocated.
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

// Swap exchanges the memory of two buffers of equal size, as ping-pong buffers do.
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

// Grid sets the number of blocks of a launch. With the new grid the launch must not access memory
// that it does not access with the traced grid, because the plan does not order such accesses. Trace
// with the largest grid.
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

// Enable enables or disables an operation. A disabled operation is skipped and leaves memory
// unchanged. Its successors then follow its predecessors, so the order of the others is kept.
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
		if err == nil {
			err = x.alone(id)
		}
		if err != nil {
			return nil, err
		}
		put(&e.off, id, !on)
		return []ir.OpID{id}, nil
	}}
}

func (x *Exec) buffer(id ir.BufferID) *ir.Buffer { return &x.prog.sched.Graph.Buffers[id] }

// listed returns the names of buffers for an error: at most eight, then the number of the others.
func listed(buffers []ir.Buffer) string {
	const maxNames = 8
	var names []string
	for i := range buffers[:min(len(buffers), maxNames)] {
		names = append(names, "@"+buffers[i].Name)
	}
	if more := len(buffers) - maxNames; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// findBuffer returns the buffer of a name for Rebind and Swap. Three kinds of buffers cannot move:
// those that no operation uses, those in the arena, whose memory other buffers share, and those of
// host calls, which hold the address in their closures.
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

// pointerOf returns the address in replays of the buffer of a name.
func (x *Exec) pointerOf(name string) (device.Ptr, error) {
	g := x.prog.sched.Graph
	id, ok := x.prog.users().named[name]
	switch {
	case !ok:
		return 0, sentinel.Errorf(sentinel.ErrUnknown, "no buffer @%s in %s: it has %s", name, g.Name, listed(g.Buffers))
	case x.prog.settings.pointer[id] == 0:
		return 0, fmt.Errorf("buffer @%s is used by no operation", name)
	}
	return x.prog.settings.pointer[id], nil
}

func (p *program) inArena(id ir.BufferID) bool {
	placed, ok := p.bound.(placed)
	return ok && placed.holds(id)
}

// findOp returns the number in the whole program of the operation of a name: one whose name or number it is, or else the
// only one whose label or kernel it is. It compares all operations: O(operations). A name of several operations is an error
// that lists them.
func (x *Exec) findOp(name string) (found ir.OpID, err error) {
	if name == "" {
		return 0, fmt.Errorf("%w: the operation to change: use its label, its kernel or its number, as in %%0", ir.ErrMissing)
	}
	var exact, like []ir.OpID
	for _, p := range x.prog.programs() {
		names, path, numbers := p.opNames(), p.path(), p.numbers()
		for i := range p.sched.Graph.Ops {
			v := ir.OpID(i)
			if p.sched.Graph.Sliced[v].First > 0 { // the first slice stands for all
				continue
			}
			switch {
			case strings.HasPrefix(name, path) && names.Is(v, name[len(path):]), strings.HasPrefix(name, numbers) && names.Is(v, name[len(numbers):]):
				exact = append(exact, p.first+v)
			case names.Like(v, name):
				like = append(like, p.first+v)
			}
		}
	}
	if len(exact) == 0 {
		exact = like
	}
	switch len(exact) {
	case 0:
		return 0, sentinel.Errorf(sentinel.ErrUnknown, "no operation %s in %s: use its label, its kernel or its number, as in %%0", name, x.prog.sched.Graph.Name)
	case 1:
		return exact[0], nil
	}
	var all []string
	for _, id := range exact {
		all = append(all, x.prog.name(id))
	}
	return 0, fmt.Errorf("%d operations are called %s: use the name of one of %s", len(all), name, strings.Join(all, ", "))
}

// asTraced returns an error if a pass has relied on the writes of every operation. Then no operation
// may be disabled or launched with another grid: copyelim, dce and unroll have removed or copied
// operations (Graph.Origin), and memplan has shared memory (Schedule.Offset), because of these writes.
func (x *Exec) asTraced() error {
	if x.prog.sched.Graph.Origin != nil && !x.runsAll() || x.prog.sched.Offset != nil {
		return errors.New("the plan relies on what every operation writes: plan without copyelim, dce, unroll and memplan")
	}
	return nil
}

// runsAll reports whether the plan runs each operation of the trace once, in any order, merged or not.
func (x *Exec) runsAll() bool {
	g, trace := x.prog.sched.Graph, traced.Of(x.prog.trace())
	if trace == nil || g.Copies > 1 {
		return false
	}
	ops := g.Len()
	for v, parts := range g.Merged {
		if g.Sliced[v].First == 0 {
			ops += len(parts) - 1
		}
	}
	for _, slice := range g.Sliced {
		if slice.First > 0 {
			ops--
		}
	}
	return ops == trace.Recorded().Len()
}

// alone returns an error if an operation is a merged launch, whose parts cannot be changed one by one, or a slice of a
// launch, the others of which are operations of their own.
func (x *Exec) alone(id ir.OpID) error {
	q, v := x.prog.find(id)
	if _, is := q.sched.Graph.Sliced[v]; is {
		return errors.New("several launches run its blocks: plan without slice and segment")
	}
	parts := q.sched.Graph.Merged[v]
	if len(parts) == 0 {
		return nil
	}
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = q.path() + q.opNames().Recorded(p.Op)
	}
	return fmt.Errorf("one launch runs %s together: plan without merge and Frozen", strings.Join(names, ", "))
}

// stays returns an error if a launch, with the parameters and the grid of the edits, would access
// memory outside the slices that it is passed. It is nil for traces read from a file, whose kernels
// are not analyzed.
func (x *Exec) stays(id ir.OpID, e *edits) error {
	launch := x.prog.op(id).Launch
	trace := traced.Of(x.prog.trace())
	if trace == nil || launch == nil || len(e.params) == 0 && len(e.grid) == 0 {
		return nil
	}
	q, v := x.prog.find(id)
	return trace.Stays(q.sched.Graph, v, e.gridOf(id, launch), e.Value)
}

// fits returns an error if a launch cannot have another grid. The accesses with that grid are
// computed by the analysis that the tracer uses, and each must be inside a traced one.
func (x *Exec) fits(id ir.OpID, grid ir.Dim3) error {
	op := x.prog.op(id)
	if op.Kind != ir.KindLaunch {
		return errors.New("it is no launch and has no grid")
	}
	if err := cmp.Or(x.asTraced(), x.alone(id)); err != nil {
		return err
	}
	if grid == op.Launch.Grid {
		return nil
	}
	trace := traced.Of(x.prog.trace())
	if trace == nil {
		return errors.New("what it would touch with another grid is not known: the trace was read from a file")
	}
	reach, shapes, err := trace.Reach(op.Launch, grid)
	if err != nil {
		return err
	}
	q, _ := x.prog.find(id)
	planned, wanted := q.sched.Graph, &ir.Graph{Shapes: shapes}
	for _, a := range reach {
		if !slices.ContainsFunc(op.Uses, func(t ir.Access) bool { return covers(t, a) && planned.Box(t).Holds(wanted.Box(a)) }) {
			b := x.buffer(a.Buffer).Name
			return fmt.Errorf("with a grid of (%d,%d,%d) it would touch @%s[%d:%d], which is more than the plan contains: trace it with the largest grid", grid.X, grid.Y, grid.Z, b, a.Lo, a.Hi)
		}
	}
	return nil
}

// covers reports whether the order that the plan keeps for access t is sufficient for access a, apart from their
// strides: a lies inside t and is of the same mode, or t is both a read and a write.
func covers(t, a ir.Access) bool {
	return t.Buffer == a.Buffer && t.Lo <= a.Lo && a.Hi <= t.Hi && (t.Mode == a.Mode || t.Mode == ir.ReadWrite)
}

// trace returns the bindings without the arena, which for a program of a trace is the trace itself.
func (p *program) trace() traced.Bindings {
	if placed, ok := p.bound.(placed); ok {
		return placed.Bindings
	}
	return p.bound
}
