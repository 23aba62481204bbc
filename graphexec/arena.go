package graphexec

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// alignment is what devices align memory to, and so what kernels may rely on.
const alignment = 256

// newArena allocates the arena of a schedule; 0 when it has none.
func newArena(dev device.Device, s *ir.Schedule) (device.Ptr, error) {
	size := int64(0)
	for b, at := range s.Offset {
		buf := &s.Graph.Buffers[b]
		switch {
		case at < 0:
			continue
		case buf.Role != ir.Temporary:
			return 0, fmt.Errorf("buffer @%s lies in the arena, where the program around the replay cannot reach it, and is not temporary: give it its own allocation", buf.Name)
		case at%alignment != 0:
			return 0, fmt.Errorf("buffer @%s has offset %d in the arena: use a multiple of %d, which kernels may rely on", buf.Name, at, alignment)
		}
		size = max(size, at+buf.Size())
	}
	if size == 0 {
		return 0, nil
	}
	arena, err := dev.Alloc(size)
	if err != nil {
		return 0, fmt.Errorf("an arena of %d bytes: %w", size, err)
	}
	if n, ok := dev.(device.Namer); ok {
		n.NameMemory(arena, "the arena of "+s.Graph.Name)
	}
	return arena, nil
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
	offset []int64 // by buffer, -1 for its own memory; nil for all
}

// place allocates what is not in the arena and operations name.
func place(s *ir.Schedule, b Bindings, arena device.Ptr) (placed, error) {
	p := placed{b, arena, s.Offset}
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
	var accesses []ir.Access
	for v := range g.Ops {
		op := &g.Ops[v]
		accesses = op.AppendAccesses(accesses[:0])
		for _, a := range accesses {
			named[a.Buffer] = true
		}
		if op.Kind != ir.KindLaunch {
			continue
		}
		for _, a := range op.Launch.Args {
			if a.Kind == ir.ArgBuffer {
				named[a.Buffer] = true
			}
		}
	}
	return named
}

func (p placed) holds(b ir.BufferID) bool { return p.offset != nil && p.offset[b] >= 0 }

// Pointer is where a buffer is in replays.
func (p placed) Pointer(b ir.BufferID) device.Ptr {
	if p.holds(b) {
		return p.arena + device.Ptr(p.offset[b])
	}
	return p.Bindings.Pointer(b)
}
