package graphexec

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/ir"
)

// newArena allocates what the bindings of a schedule do not: an arena for the buffers that
// the schedule puts there, and for those that passes made. It returns where in it they are, by
// buffer and -1 for others, and 0 for an arena when there are none.
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

// arenaOffsets has the buffers that passes made and the schedule did not place follow those that
// it did.
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
			offset[b] = (size + parts.Alignment - 1) / parts.Alignment * parts.Alignment
			size = offset[b] + buffers[b].Size()
		}
	}
	return offset, size, nil
}

func (x *Exec) freeArena() error {
	if x.arena == 0 {
		return nil
	}
	arena := x.arena
	x.arena = 0
	return x.dev.Free(arena)
}

// placed are bindings with some buffers in an arena.
type placed struct {
	Bindings
	arena  device.Ptr
	offset []int64 // by buffer, -1 for its own memory
}

// place allocates what is not in the arena and operations name.
func place(s *ir.Schedule, b Bindings, arena device.Ptr, offset []int64) (placed, error) {
	p := placed{b, arena, offset}
	for i, named := range named(s.Graph) {
		if id := ir.BufferID(i); named && !p.holds(id) {
			if err := b.Allocate(id); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// named reports, by buffer, whether it is an operand of any operation.
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

// nameArgs marks the buffers that a launch is passed.
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

// Pointer is where a buffer is in replays.
func (p placed) Pointer(b ir.BufferID) device.Ptr {
	if p.holds(b) {
		return p.arena + device.Ptr(p.offset[b])
	}
	return p.Bindings.Pointer(b)
}
