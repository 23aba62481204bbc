package graphexec

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// newArena allocates the memory that the bindings of a schedule do not provide. The arena is one
// allocation for the buffers that pass memplan has placed in it, and for those that passes have
// added. Buffers with disjoint lifetimes may overlap in it:
//
//	offset 0        256       512            size
//	       │ @a      │ @made   │ @b           │
//	       │ @c (after @a)     │
//
// newArena returns the offset of each buffer in bytes, or -1 for a buffer with memory of its own.
// The arena is 0 if no buffer needs it.
func newArena(dev device.Device, s *ir.Schedule) (device.Ptr, []int64, error) {
	offset, size, err := arenaOffsets(s)
	if err != nil || size == 0 {
		return 0, offset, err
	}
	arena, err := dev.Alloc(size)
	if err != nil {
		return 0, nil, fmt.Errorf("an arena of %d bytes: %w", size, err)
	}
	if n, ok := dev.(device.Namer); ok {
		n.NameMemory(arena, "the arena of "+s.Graph.Name)
	}
	return arena, offset, nil
}

// arenaOffsets returns the offset of each buffer in the arena, or -1, and the size of the arena, both
// in bytes. Buffers that passes have added and that the schedule has not placed follow the placed
// ones. They are the last Graph.Made buffers of the graph.
func arenaOffsets(s *ir.Schedule) (offset []int64, size int64, err error) {
	buffers := s.Graph.Buffers
	offset = slices.Clone(s.Offset)
	if offset == nil {
		offset = slices.Repeat([]int64{-1}, len(buffers))
	}
	for b, at := range offset {
		buf := &buffers[b]
		switch {
		case at < 0:
			continue
		case buf.Role != ir.Temporary:
			return nil, 0, fmt.Errorf("buffer @%s lies in the arena, where the program around the replay cannot reach it, and is not temporary: give it its own allocation", buf.Name)
		case at%parts.Alignment != 0:
			return nil, 0, fmt.Errorf("buffer @%s has offset %d in the arena: use a multiple of %d, which kernels may rely on", buf.Name, at, parts.Alignment)
		}
		size = max(size, at+buf.Size())
	}
	used := named(s.Graph)
	for b := len(buffers) - s.Graph.Made; b < len(buffers); b++ {
		if used[b] && offset[b] < 0 {
			offset[b] = (size + parts.Alignment - 1) / parts.Alignment * parts.Alignment // rounded up
			size = offset[b] + buffers[b].Size()
		}
	}
	return offset, size, nil
}

// release frees what prepare has allocated and loaded. Nothing may be in flight. A second call does nothing.
func (x *Exec) release() error {
	err := x.generated.unload(x.dev)
	if x.arena != 0 {
		err = device.Join(err, x.dev.Free(x.arena))
	}
	x.arena, x.generated = 0, nil
	return err
}

// placed is traced.Bindings in which some buffers lie in an arena and some modules are generated. All others are as the
// embedded Bindings have them.
type placed struct {
	traced.Bindings
	arena     device.Ptr
	offset    []int64 // by buffer, in bytes; -1 for memory of its own
	generated *generated
}

// place allocates each buffer that is an operand of an operation and does not lie in the arena.
func place(s *ir.Schedule, b traced.Bindings, arena device.Ptr, offset []int64) (placed, error) {
	p := placed{Bindings: b, arena: arena, offset: offset}
	for i, named := range named(s.Graph) {
		if id := ir.BufferID(i); named && !p.holds(id) {
			if err := b.Allocate(id); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// named reports, by buffer, whether it is an operand of any operation. Accesses of a loop or a branch
// include those of its bodies, but a buffer can also be passed to a kernel that never accesses it, so
// the arguments of launches count as well.
func named(g *ir.Graph) []bool {
	named := make([]bool, len(g.Buffers))
	var scratch [2]ir.Access
	for v := range g.Ops {
		op := &g.Ops[v]
		accesses := op.Accesses(&scratch)
		for _, a := range accesses {
			named[a.Buffer] = true
		}
		nameArgs(op, named)
		if op.Control != nil {
			eachOp(op.Control, func(inner *ir.Op) { nameArgs(inner, named) })
		}
	}
	return named
}

// nameArgs marks the buffers among the arguments of a launch.
func nameArgs(op *ir.Op, named []bool) {
	if op.Kind != ir.KindLaunch {
		return
	}
	for _, a := range op.Launch.Args {
		if a.Kind == ir.ArgBuffer {
			named[a.Buffer] = true
		}
	}
}

func (p placed) holds(b ir.BufferID) bool { return p.offset[b] >= 0 }

// Pointer returns the address of a buffer in replays.
func (p placed) Pointer(b ir.BufferID) device.Ptr {
	if p.holds(b) {
		return p.arena + device.Ptr(p.offset[b])
	}
	return p.Bindings.Pointer(b)
}

// Module returns the handle of a module.
func (p placed) Module(m ir.ModuleID) device.Module {
	if h, ok := p.generated.module(m); ok {
		return h
	}
	return p.Bindings.Module(m)
}
