package ir_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
)

// million is the size of the largest graph the design promises to hold.
const million = 1_000_000

// wide returns a traced graph of n launches over 64 tiles of a buffer. Each has four arguments and reads
// its own tile and a neighbour's, as in a stencil.
func wide(n int) *ir.Graph {
	const tiles, tile = 64, 4096
	g := &ir.Graph{
		Name:    "stencil",
		Modules: []ir.Module{{Name: "stencil", File: "stencil.ptx"}},
		Buffers: []ir.Buffer{{Name: "u", Elem: ir.F32, Len: tiles * tile / 4, Role: ir.InOut}},
		Ops:     make([]ir.Op, 0, n),
	}
	for v := range n {
		lo := int64(v%tiles) * tile
		next := (lo + tile) % (tiles * tile)
		g.Ops = append(g.Ops, ir.Op{
			Kind: ir.KindLaunch,
			Launch: &ir.Launch{
				Entry: "step", Grid: ir.Dim3{X: 4, Y: 1, Z: 1}, Block: ir.Dim3{X: 256, Y: 1, Z: 1},
				Args: []ir.Arg{
					{Kind: ir.ArgBuffer, Offset: lo}, {Kind: ir.ArgBuffer, Offset: next},
					{Scalar: ir.Scalar{Type: ir.I32, Bits: 1024}}, {Scalar: ir.Scalar{Type: ir.F32, Bits: 0x3f000000}},
				},
			},
			Uses: []ir.Access{
				{Range: ir.Range{Lo: lo, Hi: lo + tile}, Mode: ir.ReadWrite},
				{Range: ir.Range{Lo: next, Hi: next + tile}, Mode: ir.Read},
			},
			Cost: -1,
			Pos:  &ir.Position{File: "main.go", Line: 40},
		})
	}
	return g
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkPrintMillion(b *testing.B) {
	g := wide(million)
	for b.Loop() {
		b.SetBytes(int64(len(ir.Format(g, nil))))
	}
}

// BenchmarkParseMillion also measures what the graph keeps of the heap.
func BenchmarkParseMillion(b *testing.B) {
	src := string(ir.Format(wide(million), nil))
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		before := heap()
		f, err := ir.Parse("x.rir", src)
		require.NoError(b, err)
		b.ReportMetric(float64(heap()-before)/1e6, "MB-held")
		runtime.KeepAlive(f)
	}
}

func BenchmarkVerifyTracedMillion(b *testing.B) {
	g := wide(million)
	for b.Loop() {
		require.NoError(b, ir.Verify(g))
	}
}

// stencilDeps returns the dependencies of wide, reduced or not: an operation waits for the last one that
// used its tile and for the one before it, which read the tile that it writes.
func stencilDeps(b *testing.B, n int) *ir.Graph {
	var deps []ir.Dep
	for v := 1; v < n; v++ {
		deps = append(deps, ir.Dep{From: ir.OpID(v - 1), To: ir.OpID(v), Hazard: ir.WAR})
		if v >= 64 {
			deps = append(deps, ir.Dep{From: ir.OpID(v - 64), To: ir.OpID(v), Hazard: ir.RAW | ir.WAW})
		}
		if v >= 63 {
			deps = append(deps, ir.Dep{From: ir.OpID(v - 63), To: ir.OpID(v), Hazard: ir.RAW})
		}
	}
	g, err := wide(n).WithDeps(ir.Analyzed, deps, nil)
	require.NoError(b, err)
	return g
}

func BenchmarkVerifyAnalyzedMillion(b *testing.B) {
	g := stencilDeps(b, million)
	for b.Loop() {
		require.NoError(b, ir.Verify(g))
	}
}

// lattice returns a reduced graph of n empty operations in rows of the given width. Each depends on its two
// neighbours in the row above.
func lattice(b *testing.B, n, width int) *ir.Graph {
	g := &ir.Graph{Name: "lattice", Ops: make([]ir.Op, n)}
	var deps []ir.Dep
	for v := width; v < n; v++ {
		above := v - width
		deps = append(deps,
			ir.Dep{From: ir.OpID(above), To: ir.OpID(v), Hazard: ir.Ordered},
			ir.Dep{From: ir.OpID(above - above%width + (above+1)%width), To: ir.OpID(v), Hazard: ir.Ordered})
	}
	g, err := g.WithDeps(ir.Reduced, deps, nil)
	require.NoError(b, err)
	return g
}

// Reduction is checked with clocks for 16 chains at a time, so the time grows with the width.
func BenchmarkVerifyReducedMillion(b *testing.B) {
	for _, width := range []int{16, 128, 1024} {
		b.Run(fmt.Sprintf("width=%d", width), func(b *testing.B) {
			g := lattice(b, million, width)
			for b.Loop() {
				require.NoError(b, ir.Verify(g))
			}
		})
	}
}

// The schedule of a lattice with one lane per column and a wait per diagonal.
func BenchmarkVerifyScheduleMillion(b *testing.B) {
	const width = 128
	g := lattice(b, million, width)
	s := &ir.Schedule{Graph: g, Strategy: "columns", Lanes: width, Lane: make([]ir.LaneID, million), Waits: make([][]ir.OpID, million)}
	for v := range s.Lane {
		s.Order = append(s.Order, ir.OpID(v))
		s.Lane[v] = ir.LaneID(v % width)
		for _, d := range g.DepsInto(ir.OpID(v)) {
			if s.Lane[d.From] != s.Lane[v] {
				s.Waits[v] = append(s.Waits[v], d.From)
			}
		}
	}
	for b.Loop() {
		require.NoError(b, ir.VerifySchedule(s))
	}
}

// The after edges of the last operation reach over many short chains, which
// is the worst case for clocks: n/16 searches.
func BenchmarkVerifyJoin(b *testing.B) {
	const n = 50_000
	g := &ir.Graph{Name: "join", Ops: make([]ir.Op, 2*n+1)}
	var deps []ir.Dep
	for v := range ir.OpID(n) {
		deps = append(deps, ir.Dep{From: v, To: v + n, Hazard: ir.Ordered}, ir.Dep{From: v + n, To: 2 * n, Hazard: ir.Ordered})
		g.Ops[2*n].After = append(g.Ops[2*n].After, v)
	}
	g, err := g.WithDeps(ir.Reduced, deps, nil)
	require.NoError(b, err)
	for b.Loop() {
		require.NoError(b, ir.Verify(g))
	}
}

// Properties in other packages make many small graphs.
func BenchmarkRandom(b *testing.B) {
	for b.Loop() {
		irtest.Random(rand.New(rand.NewPCG(1, 1)), 100)
	}
}
