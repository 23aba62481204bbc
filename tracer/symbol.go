package tracer

import "github.com/reprise-gpu/reprise/ir"

// symbols are hashes of what a call is like, and of all of it. They are sums of products, of which a processor has several
// at work: rounds of mixing, each of which waits for the one before, took five times as long.
func (c *call) symbols() (like, same uint64) {
	like = uint64(c.pc)*odd[0] + uint64(c.kind)*odd[1]
	if k := c.kernel; k != nil {
		grid, block := &c.shape.Grid, &c.shape.Block
		like += pair(grid.X, grid.Y)*odd[2] + pair(grid.Z, block.Z)*odd[3] + pair(block.X, block.Y)*odd[4] +
			pair(uint32(k.number), c.shape.Shared)*odd[5]
	}
	for i := range c.operands {
		o := &c.operands[i]
		if o.kind == ir.ArgBuffer {
			like = like*odd[6] + o.bits*odd[7] + uint64(o.end)*odd[8]
			same = same*odd[6] + uint64(o.id)
		} else {
			like = like*odd[6] + uint64(o.typ)
			same = same*odd[6] + o.bits
		}
	}
	return fold(like) & symbolMask, fold(like+same*odd[9]) & symbolMask
}

// odd are the multipliers: digits of pi.
var odd = [...]uint64{
	0x243f6a8885a308d3, 0x13198a2e03707345, 0xa4093822299f31d1, 0x082efa98ec4e6c89, 0x452821e638d01377,
	0xbe5466cf34e90c6d, 0xc0ac29b7c97c50dd, 0x3f84d5b5b5470917, 0x9216d5d98979fb1b, 0xd1310ba698dfb5ad,
}

func pair(a, b uint32) uint64 { return uint64(a) | uint64(b)<<32 }

// fold has the lower bits of a product, on which little has had an influence, depend on the upper ones.
func fold(h uint64) uint64 { return h ^ h>>32 }

// symbolMask is all that is kept of hashes; tests keep less.
var symbolMask = ^uint64(0)
