package tracer

import (
	"math/bits"

	"github.com/reprise-gpu/reprise/ir"
)

// symbols are hashes of what a call is like, and of all of it.
func (c *call) symbols() (like, same uint64) {
	h := hash(c.kind).add(uint64(c.pc))
	if k := c.kernel; k != nil {
		grid, block := &c.shape.Grid, &c.shape.Block
		h = h.add(uint64(k.number) ^ uint64(c.shape.Shared)<<32)
		h = h.add(uint64(grid.X) ^ uint64(grid.Y)<<32 ^ uint64(grid.Z)<<24)
		h = h.add(uint64(block.X) ^ uint64(block.Y)<<32 ^ uint64(block.Z)<<24)
	}
	rest := hash(1)
	for i := range c.operands {
		o := &c.operands[i]
		if o.kind == ir.ArgBuffer {
			h, rest = h.add(o.bits^uint64(o.end)<<24), rest.add(uint64(o.id))
		} else {
			h, rest = h.add(uint64(o.typ)), rest.add(o.bits)
		}
	}
	return uint64(h) & symbolMask, uint64(h^rest.add(0)) & symbolMask
}

// symbolMask is all that is kept of hashes; tests keep less.
var symbolMask = ^uint64(0)

type hash uint64

func (h hash) add(v uint64) hash {
	return hash(bits.RotateLeft64(uint64(h)^v*0x9e3779b97f4a7c15, 29) * 0xbf58476d1ce4e5b9)
}
