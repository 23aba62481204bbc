package optimizer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/box"
	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/ir"
)

// stridedTrace has n operations with up to four accesses each to few, small buffers. About half have strides: those of
// a matrix, of a 3-D array, multiples of them, or any others.
func stridedTrace(r *rand.Rand, n int) *ir.Graph {
	const size = 120
	g := randomTrace(r, n)
	rows := make([]int64, len(g.Buffers))
	for b := range g.Buffers {
		g.Buffers[b].Len = size
		rows[b] = 3 + r.Int64N(8)
	}
	var shapes box.Table
	for v := range g.Ops {
		g.Ops[v].Kind, g.Ops[v].Launch = ir.KindLaunch, oneBlock
		for i := range g.Ops[v].Uses {
			a := &g.Ops[v].Uses[i]
			if r.IntN(2) == 0 {
				a.Lo, a.Hi = a.Lo*size/16, a.Hi*size/16
				continue
			}
			b := box.Box{Lo: r.Int64N(size), Shape: box.Shape{Run: 1 + r.Int64N(5)}}
			stride := rows[a.Buffer] * []int64{1, 1, 1, 2, 3}[r.IntN(5)]
			for k := range 1 + r.IntN(2) {
				if r.IntN(8) == 0 {
					stride = b.Extent() + 1 + r.Int64N(6)
				}
				b.Count[k], b.Stride[k] = 2+r.Int64N(6), stride
				stride *= 2 + r.Int64N(3)
			}
			if b.Valid() && b.Hi() <= size {
				a.Lo, a.Hi, a.Shape = b.Lo, b.Hi(), ir.ShapeID(shapes.ID(b.Shape))
			}
		}
	}
	g.Modules, g.Shapes = modules, shapes.Shapes()
	return g
}

var (
	oneBlock = &ir.Launch{Entry: "k", Grid: ir.Dim3{X: 1, Y: 1, Z: 1}, Block: ir.Dim3{X: 32, Y: 1, Z: 1}}
	modules  = []ir.Module{{Name: "m", File: "m.ptx"}}
)

func TestHazardsOrderExactlyTheConflictsOfStrides(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	strided := 0
	for round := range 600 {
		g := stridedTrace(r, 1+r.IntN(40))
		h, err := hazards(g)
		require.NoError(t, err)
		want := densetest.Closure(g.Len(), allConflicts(g))
		require.Equal(t, want, densetest.Closure(g.Len(), dagOf(h).Edges()), "round %d\n%s", round, ir.Print(g))
		checkCauses(t, h)
		require.NoError(t, ir.Verify(h))
		strided += len(g.Shapes)
	}
	assert.Greater(t, strided, 1000)
}

// number returns the number of a byte: the index of its cell in each digit, and the last digit.
func (t *grid) number(x int64) int64 {
	n, at := int64(0), x+t.bias
	for d, cuts := range t.cells {
		cell, found := slices.BinarySearch(cuts, at%t.units[d+1]/t.units[d])
		if !found {
			cell--
		}
		n = n*int64(len(cuts)-1) + int64(cell)
	}
	return n*t.last + at/t.units[len(t.units)-1]
}

// The spans of an access have the numbers of its bytes and of no others. The hull of a span is inside the access.
func TestGridKeepsTheBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	checked := 0
	for round := range 300 {
		g := stridedTrace(r, 1+r.IntN(12))
		grids := newGrids(g)
		eachAccess(g, func(a ir.Access) {
			if a.Empty() || grids == nil || grids[a.Buffer] == nil {
				return
			}
			placed, grid := grids.of(a, nil), grids[a.Buffer]
			require.True(t, placed.exact)
			bytes := map[int64]bool{}
			g.Box(a).Runs(func(lo, hi int64) bool {
				for ; lo < hi; lo++ {
					bytes[lo] = true
				}
				return true
			})
			for x := range g.Buffers[a.Buffer].Len {
				n := grid.number(x)
				has := slices.ContainsFunc(placed.spans, func(s span) bool { return s.lo <= n && n < s.hi })
				require.Equal(t, bytes[x], has, "round %d: byte %d of %v", round, x, a)
			}
			for _, s := range placed.spans {
				hull := grid.hull(s)
				require.True(t, a.Lo <= hull.lo && hull.lo < hull.hi && hull.hi <= a.Hi, "round %d: %v of %v", round, hull, a)
			}
			checked++
		})
	}
	assert.Greater(t, checked, 1000)
}

// columnTiles has launches that write tiles of columns of one matrix, one after another, again and again, and one that
// reads all of it at the end.
func columnTiles(tiles, iterations int) *ir.Graph {
	const rows, width = 512, 64
	pitch := int64(tiles * width)
	g := &ir.Graph{Name: "tiles", Modules: modules, Buffers: []ir.Buffer{{Name: "c", Elem: ir.U8, Len: rows * pitch, Role: ir.InOut}}}
	var shapes box.Table
	for range iterations {
		for i := range tiles {
			b := box.Box{Lo: int64(i * width), Shape: box.Shape{Run: width, Count: [2]int64{rows}, Stride: [2]int64{pitch}}}
			g.Ops = append(g.Ops, ir.Op{Kind: ir.KindLaunch, Launch: oneBlock, Label: fmt.Sprint(i), Cost: 10_000, Uses: []ir.Access{
				{Range: ir.Range{Lo: b.Lo, Hi: b.Hi()}, Mode: ir.ReadWrite, Shape: ir.ShapeID(shapes.ID(b.Shape))}}})
		}
	}
	g.Ops = append(g.Ops, ir.Op{Kind: ir.KindHost, Label: "all", Cost: 10_000, Uses: []ir.Access{{Range: ir.Range{Hi: rows * pitch}}}})
	g.Shapes = shapes.Shapes()
	return g
}

// Tiles of columns are independent: each waits for the same tile of the iteration before, and the last launch for all.
func TestColumnTilesAreIndependent(t *testing.T) {
	const tiles, iterations = 16, 5
	g := columnTiles(tiles, iterations)
	h, err := hazards(g)
	require.NoError(t, err)
	require.NoError(t, ir.Verify(h))
	assert.Len(t, h.Deps(), tiles*iterations)
	for _, d := range h.Deps() {
		if int(d.To) < tiles*iterations {
			assert.EqualValues(t, tiles, d.To-d.From)
		}
	}
	assert.Equal(t, []span{{0, 512}}, newGrids(g).of(g.Ops[0].Uses[0], nil).spans)

	whole := *g // without shapes, the ranges overlap
	whole.Shapes, whole.Ops = nil, slices.Clone(g.Ops)
	for v := range whole.Ops {
		whole.Ops[v].Uses = slices.Clone(whole.Ops[v].Uses)
		whole.Ops[v].Uses[0].Shape = 0
	}
	serial, err := hazards(&whole)
	require.NoError(t, err)
	assert.True(t, dagOf(serial).Len() > 0 && len(serial.Deps()) > len(h.Deps()))
}

func BenchmarkHazardsOfTiles(b *testing.B) {
	for _, strided := range []bool{false, true} {
		g := columnTiles(64, 1000)
		if !strided {
			g.Shapes = nil
			for v := range g.Ops[:64000] {
				u := &g.Ops[v].Uses[0]
				u.Shape, u.Lo, u.Hi = 0, int64(v%64)*64, int64(v%64)*64+64
			}
		}
		b.Run(fmt.Sprintf("strided=%v", strided), func(b *testing.B) {
			for b.Loop() {
				if _, err := hazards(g); err != nil {
					b.Fatal(err)
				}
			}
		})
		h, err := hazards(g)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("verify/strided=%v", strided), func(b *testing.B) {
			for b.Loop() {
				if err := ir.Verify(h); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
