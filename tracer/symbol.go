package tracer

import (
	"math/bits"

	"github.com/reprise-gpu/reprise/ir"
)

// likeness is a hash of what a call is like: of all but which buffers it has and which values scalars have.
func (c *call) likeness() uint64 {
	h := hash(c.kind).add(uint64(c.pc))
	if k := c.kernel; k != nil {
		h = c.shape.hash(h.add(uint64(k.number)))
	}
	for i := range c.operands {
		if o := &c.operands[i]; o.kind == ir.ArgBuffer {
			h = h.add(o.bits).add(uint64(o.end))
		} else {
			h = h.add(uint64(o.typ))
		}
	}
	return uint64(h) & symbolMask
}

// hash adds a shape to a hash. Within the limits of CUDA no two extents share bits of a word, so that shapes which differ in one
// word never collide: a grid has less than 2^16 blocks in y and z, a block at most 1024 threads and 64 in z.
func (s *Shape) hash(h hash) hash {
	h = h.add(uint64(s.Grid.X) ^ uint64(s.Grid.Y)<<32 ^ uint64(s.Grid.Z)<<48)
	return h.add(uint64(s.Block.X) ^ uint64(s.Block.Y)<<12 ^ uint64(s.Block.Z)<<24 ^ uint64(s.Shared)<<32)
}

// identity is a hash of all of a call.
func (m *moment) identity() uint64 {
	if m.kind == ir.KindEmpty {
		return m.like
	}
	h := hash(1)
	for i := range m.operands {
		if o := &m.operands[i]; o.kind == ir.ArgBuffer {
			h = h.add(uint64(o.id))
		} else {
			h = h.add(o.bits)
		}
	}
	return (m.like ^ uint64(h.add(0))) & symbolMask
}

// symbolMask is all that is kept of hashes; tests keep less.
var symbolMask = ^uint64(0)

type hash uint64

func (h hash) add(v uint64) hash {
	return hash(bits.RotateLeft64(uint64(h)^v*0x9e3779b97f4a7c15, 29) * 0xbf58476d1ce4e5b9)
}
