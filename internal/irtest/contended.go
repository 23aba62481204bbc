package irtest

import (
	"fmt"
	"math/rand/v2"

	"github.com/reprise-gpu/reprise/ir"
)

// Contended returns a traced program of n launches and copies that contend for the device: buffers of 4 KiB to
// 16 MiB, copies in both directions, and kernels of one block up to more blocks than fit
// on the device at a time. Programs differ in the sizes of buffers, in the share of copies, and in how long before an
// operation its operands were written.
func Contended(r *rand.Rand, n int) *ir.Graph {
	c := contended{r: r, sizes: mixes[r.IntN(len(mixes))], copies: 2 + r.IntN(5), back: 3 + r.IntN(14)}
	c.g = &ir.Graph{Name: fmt.Sprintf("contended-%d", n), Modules: []ir.Module{{Name: "m", File: "m.ptx"}}}
	for range 6 + r.IntN(n) {
		c.buffer()
	}
	for range n {
		c.g.Ops = append(c.g.Ops, c.op())
	}
	return c.g
}

// mixes lists the sets of buffer sizes that a program draws from, in bytes.
var mixes = [][]int64{
	{4 << 10, 256 << 10, 4 << 20, 16 << 20},
	{256 << 10, 256 << 10, 4 << 20, 4 << 10},
	{4 << 20, 16 << 20},
	{64 << 10, 1 << 20, 2 << 20},
	{4 << 10, 64 << 10},
}

type contended struct {
	r       *rand.Rand
	g       *ir.Graph
	sizes   []int64
	copies  int // number of copies in ten operations
	back    int // an operation reads among this many of the buffers written last
	written []ir.BufferID
}

// buffer adds a buffer on the device and one of the same size on the host.
func (c *contended) buffer() {
	n := c.sizes[c.r.IntN(len(c.sizes))]
	i := len(c.g.Buffers) / 2
	c.g.Buffers = append(c.g.Buffers,
		ir.Buffer{Name: fmt.Sprintf("b%d", i), Elem: ir.U8, Len: n, Role: ir.Temporary},
		ir.Buffer{Name: fmt.Sprintf("h%d", i), Elem: ir.U8, Len: n, Place: ir.Place{Kind: ir.PinnedHost}, Role: ir.InOut})
}

// any returns a random buffer on the device.
func (c *contended) any() ir.BufferID { return ir.BufferID(2 * c.r.IntN(len(c.g.Buffers)/2)) }

// recent returns one of the buffers written last.
func (c *contended) recent() ir.BufferID {
	recent := c.written[max(0, len(c.written)-c.back):]
	return recent[c.r.IntN(len(recent))]
}

func (c *contended) whole(b ir.BufferID) ir.Range { return ir.Range{Buffer: b, Hi: c.g.Buffers[b].Len} }

func (c *contended) op() ir.Op {
	if len(c.written) == 0 || c.r.IntN(10) < c.copies {
		return c.copy()
	}
	return c.launch()
}

func (c *contended) copy() ir.Op {
	if len(c.written) > 0 && c.r.IntN(3) == 0 {
		b := c.recent()
		return ir.Op{Kind: ir.KindCopy, Cost: -1, Copy: &ir.Copy{Dst: c.whole(b + 1), Src: c.whole(b)}}
	}
	b := c.any()
	c.written = append(c.written, b)
	return ir.Op{Kind: ir.KindCopy, Cost: -1, Copy: &ir.Copy{Dst: c.whole(b), Src: c.whole(b + 1)}}
}

func (c *contended) launch() ir.Op {
	grids := []uint32{1, 16, 132, 528, 1056, 2112, 4096, 16384}
	op := ir.Op{Kind: ir.KindLaunch, Cost: -1, Launch: &ir.Launch{
		Module: 0, Entry: "k", Grid: ir.Dim3{X: grids[c.r.IntN(len(grids))], Y: 1, Z: 1}, Block: ir.Dim3{X: 128 << c.r.IntN(4), Y: 1, Z: 1},
	}}
	used := map[ir.BufferID]bool{}
	for range 1 + c.r.IntN(3) {
		if b := c.recent(); !used[b] {
			used[b] = true
			op.Uses = append(op.Uses, ir.Access{Range: c.whole(b), Mode: ir.Read})
		}
	}
	b := c.any()
	c.written = append(c.written, b)
	if used[b] || c.r.IntN(8) == 0 {
		op.Uses[0].Mode = ir.ReadWrite
		return op
	}
	op.Uses = append(op.Uses, ir.Access{Range: c.whole(b), Mode: ir.Write})
	return op
}
