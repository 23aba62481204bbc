package graphexec_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// board is a matrix on a simulated device that finds races, and the traced kernels on tiles of it.
type board struct {
	dev  *sim.Device
	tr   *tracer.Tracer
	m    *tracer.Module
	x    tracer.Buffer
	want []float32 // the elements after one replay
}

const boardRows, boardColumns = 12, 20

func newBoard(t *testing.T) *board {
	source, err := os.ReadFile("../internal/interp/testdata/matrix.ptx")
	require.NoError(t, err)
	dev, err := sim.New(sim.Options{Race: sim.RaceOn})
	require.NoError(t, err)
	t.Cleanup(func() { dev.Close() })
	b := &board{dev: dev, tr: tracer.New(dev, "board", tracer.Deferred), want: make([]float32, boardRows*boardColumns)}
	b.m = b.tr.Module("matrix.ptx", string(source))
	b.x = b.tr.Alloc("x", ir.F32, int64(len(b.want)), ir.InOut)
	for i := range b.want {
		b.want[i] = float32(i)
	}
	require.NoError(t, tracer.Write(b.x, b.want))
	return b
}

// scale launches the kernel that doubles a tile.
func (b *board) scale(grid ir.Dim3, row, column, rows, columns int) {
	b.tr.Launch(b.m.Kernel("scale"), tracer.Shape{Grid: grid, Block: ir.Dim3{X: 8, Y: 4, Z: 1}}, b.x, boardColumns, row, column, rows, columns)
	for i := row; i < row+min(rows, 4*int(grid.Y)); i++ {
		for j := column; j < column+min(columns, 8*int(grid.X)); j++ {
			b.want[i*boardColumns+j] *= 2
		}
	}
}

// random launches kernels on random tiles.
func (b *board) random(r *rand.Rand) {
	for range 3 + r.IntN(8) {
		row, column := r.IntN(boardRows), r.IntN(boardColumns)
		b.scale(ir.Dim3{X: 1 + r.Uint32N(3), Y: 1 + r.Uint32N(3), Z: 1}, row, column, 1+r.IntN(boardRows-row), 1+r.IntN(boardColumns-column))
	}
}

// replay runs a plan of the board once.
func (b *board) replay(t *testing.T, s *ir.Schedule, trace *tracer.Trace, form graphexec.Backend) error {
	x, err := graphexec.Instantiate(b.dev, s, trace, form)
	require.NoError(t, err)
	defer x.Close()
	require.NoError(t, x.Replay(context.Background()))
	return x.Wait(context.Background())
}

// TestColumnTilesRunSideBySide has no dependency between the halves of a matrix, and none between their launches.
func TestColumnTilesRunSideBySide(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		b := newBoard(t)
		whole := ir.Dim3{X: 3, Y: 3, Z: 1}
		b.scale(whole, 0, 0, boardRows, boardColumns/2)
		b.scale(whole, 0, boardColumns/2, boardRows, boardColumns/2)
		trace, err := b.tr.Finish()
		require.NoError(t, err)
		s := planned(t, trace.Graph)
		assert.Empty(t, s.Graph.Deps())
		assert.NotEqual(t, s.Lane[0], s.Lane[1])
		require.NoError(t, b.replay(t, s, trace, form))
		got := make([]float32, len(b.want))
		require.NoError(t, tracer.Read(got, b.x))
		assert.Equal(t, b.want, got)
	})
}

// TestRandomTilesKeepTheirOrder compares plans of random tiles with the same launches one after another, on a device
// that finds races byte by byte.
func TestRandomTilesKeepTheirOrder(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		independent, hulls := 0, 0
		for seed := range uint64(30) {
			b := newBoard(t)
			b.random(rand.New(rand.NewPCG(seed, 1)))
			trace, err := b.tr.Finish()
			require.NoError(t, err)
			p, err := optimizer.Plan(trace.Graph, optimizer.Options{Strategy: "nimble", Verify: true})
			require.NoError(t, err)
			require.NoError(t, b.replay(t, p.Schedule, trace, form), "seed %d\n%s", seed, ir.Print(trace.Graph))
			got := make([]float32, len(b.want))
			require.NoError(t, tracer.Read(got, b.x))
			require.Equal(t, b.want, got, "seed %d", seed)
			one, all := independentPairs(trace.Graph)
			independent, hulls = independent+one, hulls+all
		}
		assert.Greater(t, 4*independent, 5*hulls, "few launches are independent by their strides alone")
	})
}

// TestMergedTilesKeepTheirOrder merges launches on tiles that have no byte in common.
func TestMergedTilesKeepTheirOrder(t *testing.T) {
	merged := 0
	for seed := range uint64(10) {
		b := newBoard(t)
		b.random(rand.New(rand.NewPCG(seed, 2)))
		trace, err := b.tr.Finish()
		require.NoError(t, err)
		p, err := optimizer.Plan(trace.Graph, optimizer.Options{Strategy: "nimble", Verify: true, Also: []string{"merge"}})
		require.NoError(t, err)
		merged += len(p.Schedule.Graph.Merged)
		require.NoError(t, b.replay(t, p.Schedule, trace, graphexec.Streams), "seed %d\n%s", seed, ir.Print(trace.Graph))
		got := make([]float32, len(b.want))
		require.NoError(t, tracer.Read(got, b.x))
		require.Equal(t, b.want, got, "seed %d", seed)
	}
	assert.Greater(t, merged, 5)
}

// independentPairs counts the pairs of operations that have no byte in common, by boxes and by ranges.
func independentPairs(g *ir.Graph) (boxes, ranges int) {
	for v := range g.Ops {
		for u := range v {
			a, b := g.Ops[u].Uses[0], g.Ops[v].Uses[0]
			if !g.Box(a).Overlaps(g.Box(b)) {
				boxes++
			}
			if !a.Overlaps(b.Range) {
				ranges++
			}
		}
	}
	return boxes, ranges
}

// TestRacesBetweenTilesAreFound plans two tiles as if they were those on the left and on the right. Races are found if
// they overlap in one column, and none if their columns differ.
func TestRacesBetweenTilesAreFound(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		for width, raced := range map[int]bool{boardColumns / 2: false, boardColumns/2 + 1: true} {
			b := newBoard(t)
			whole := ir.Dim3{X: 3, Y: 3, Z: 1}
			b.scale(whole, 0, 0, boardRows, width)
			b.scale(whole, 0, boardColumns/2, boardRows, boardColumns/2)
			trace, err := b.tr.Finish()
			require.NoError(t, err)
			g := *trace.Graph
			g.Ops = slices.Clone(g.Ops)
			g.Ops[0].Uses = slices.Clone(g.Ops[0].Uses)
			left := &g.Ops[0].Uses[0]
			left.Shape = g.Ops[1].Uses[0].Shape // of half the columns
			left.Hi = left.Lo + g.Shapes[left.Shape-1].Extent()
			err = b.replay(t, planned(t, &g), trace, form)
			var found *sim.RaceError
			if assert.Equal(t, raced, errors.As(err, &found), "%v", err); !raced {
				require.NoError(t, err)
			}
		}
	})
}

// TestGridsOfTiles changes the grid of a launch on a tile. A grid with fewer columns or rows stays inside the planned
// bytes, and one with more does not, although their range is not longer.
func TestGridsOfTiles(t *testing.T) {
	b := newBoard(t)
	b.scale(ir.Dim3{X: 1, Y: 3, Z: 1}, 0, 2, boardRows-1, boardColumns-2)
	trace, err := b.tr.Finish()
	require.NoError(t, err)
	x := instantiate(t, b.dev, trace, graphexec.Graph)
	defer x.Close()
	require.NoError(t, x.Apply(graphexec.Grid("%0", ir.Dim3{X: 1, Y: 2, Z: 1})))
	require.NoError(t, x.Apply(graphexec.Grid("%0", ir.Dim3{X: 1, Y: 1, Z: 1})))
	err = x.Apply(graphexec.Grid("%0", ir.Dim3{X: 2, Y: 2, Z: 1}))
	require.ErrorContains(t, err, "trace it with the largest grid")
}
