package irtest

import (
	"math/rand/v2"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// Shapes returns the names of the shapes that Shaped accepts.
func Shapes() []string {
	return []string{"diamonds", "pipeline", "stencil", "butterfly", "attention", "vcycle"}
}

// Shaped returns a traced program of 12 to 60 launches and copies in the shape of a well-known computation. The sizes
// of buffers and grids are random.
func Shaped(r *rand.Rand, shape string) *ir.Graph {
	c := shaped{contended{r: r, sizes: mixes[r.IntN(len(mixes))]}}
	c.g = &ir.Graph{Name: shape, Modules: []ir.Module{{Name: "m", File: "m.ptx"}}}
	switch shape {
	case "diamonds":
		c.diamonds(3+r.IntN(4), 3+r.IntN(5))
	case "pipeline":
		c.pipeline(3+r.IntN(7), 2+r.IntN(3))
	case "stencil":
		c.stencil(3+r.IntN(4), 3+r.IntN(5))
	case "butterfly":
		c.butterfly(2 + r.IntN(2))
	case "attention":
		c.attention(2 + r.IntN(6))
	case "vcycle":
		c.vcycles(1+r.IntN(2), 2+r.IntN(2))
	default:
		panic("BUG: no shape is called " + shape)
	}
	return c.g
}

// shaped builds a program whose copies and launches name their buffers.
type shaped struct{ contended }

// fresh returns a new buffer on the device.
func (c *shaped) fresh() ir.BufferID {
	c.buffer()
	return ir.BufferID(len(c.g.Buffers) - 2)
}

// in adds a copy to a new buffer on the device, and returns the buffer.
func (c *shaped) in() ir.BufferID {
	b := c.fresh()
	c.g.Ops = append(c.g.Ops, ir.Op{Kind: ir.KindCopy, Cost: -1, Copy: &ir.Copy{Dst: c.whole(b), Src: c.whole(b + 1)}})
	return b
}

func (c *shaped) out(b ir.BufferID) {
	c.g.Ops = append(c.g.Ops, ir.Op{Kind: ir.KindCopy, Cost: -1, Copy: &ir.Copy{Dst: c.whole(b + 1), Src: c.whole(b)}})
}

// kernel launches a kernel that reads buffers, and returns the new one that it writes.
func (c *shaped) kernel(reads ...ir.BufferID) ir.BufferID {
	grids := []uint32{16, 132, 528, 2112, 16384}
	b := c.fresh()
	op := ir.Op{Kind: ir.KindLaunch, Cost: -1, Launch: &ir.Launch{
		Module: 0, Entry: "k", Grid: ir.Dim3{X: grids[c.r.IntN(len(grids))], Y: 1, Z: 1}, Block: ir.Dim3{X: 128 << c.r.IntN(4), Y: 1, Z: 1},
	}}
	for _, u := range append(reads, b) {
		a := ir.Access{Range: c.whole(u), Mode: ir.Read}
		if u == b {
			a.Mode = ir.Write
		}
		op.Uses = append(op.Uses, a)
	}
	c.g.Ops = append(c.g.Ops, op)
	return b
}

// kernels launches n kernels, each on the buffers that reads returns.
func (c *shaped) kernels(n int, reads func(i int) []ir.BufferID) (wrote []ir.BufferID) {
	for i := range n {
		wrote = append(wrote, c.kernel(reads(i)...))
	}
	return wrote
}

// diamonds is a sequence of forks and joins.
func (c *shaped) diamonds(stages, width int) {
	x := c.in()
	for range stages {
		x = c.kernel(c.kernels(width, func(int) []ir.BufferID { return []ir.BufferID{x} })...)
	}
	c.out(x)
}

// pipeline copies chunks in, computes and copies them out.
func (c *shaped) pipeline(chunks, stages int) {
	for range chunks {
		x := c.in()
		for range stages {
			x = c.kernel(x)
		}
		c.out(x)
	}
}

// stencil steps tiles in a row, each after itself and its neighbours.
func (c *shaped) stencil(tiles, steps int) {
	var row []ir.BufferID
	for range tiles {
		row = append(row, c.in())
	}
	for range steps {
		old := row
		row = c.kernels(tiles, func(i int) []ir.BufferID { return slices.Clone(old[max(0, i-1):min(tiles, i+2)]) })
	}
	c.out(row[0])
	c.out(row[tiles-1])
}

// butterfly is a fast Fourier transform of 2^stages parts.
func (c *shaped) butterfly(stages int) {
	var row []ir.BufferID
	for range 1 << stages {
		row = append(row, c.in())
	}
	for s := range stages {
		old := row
		row = c.kernels(len(row), func(i int) []ir.BufferID { return []ir.BufferID{old[i], old[i^1<<s]} })
	}
	for _, b := range row {
		c.out(b)
	}
}

// attention is a layer of parallel heads between two projections.
func (c *shaped) attention(heads int) {
	x := c.in()
	var out []ir.BufferID
	for range heads {
		qkv := c.kernels(3, func(int) []ir.BufferID { return []ir.BufferID{x, c.in()} })
		out = append(out, c.kernel(c.kernel(qkv[0], qkv[1]), qkv[2]))
	}
	c.out(c.kernel(x, c.kernel(out...)))
}

// vcycles is a number of parallel multigrid V-cycles.
func (c *shaped) vcycles(cycles, levels int) {
	for range cycles {
		x, rhs := c.in(), c.in()
		var fine []ir.BufferID
		for range levels {
			x = c.kernel(x, rhs) // smooth
			fine = append(fine, x)
			x = c.kernel(c.kernel(x, rhs)) // residual, restriction
		}
		for _, f := range slices.Backward(fine) {
			x = c.kernel(c.kernel(x), f) // prolongation, correction
			x = c.kernel(x, rhs)         // smooth
		}
		c.out(x)
	}
}
