package bench

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/internal/bench/reference"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// hits is the HITS algorithm: hubs and authorities of a directed graph by power iteration. It has five iterations of
// two chains that exchange their results.
//
//	copy Aᵀ, hub1 ──► spmv3 ─► sum ─► divide auth1 ─┬► spmv3 ─► … ─► copy auth1
//	clear counters,             ╳                   ╳
//	norms             ─► spmv3 ─► sum ─► divide hub1 ──┴► spmv3 ─► … ─► copy hub1
//	copy A, auth1 ──┘
//
// A division overwrites the vector that the other chain's product has read, and the next products read both. Every
// iteration has its own counters and norms, so two fills at the start clear all of them.
var hits = &Workload{
	Name: "hits", Title: "HITS",
	Doc:     "hubs and authorities: 5 rounds of 6 kernels, two chains that exchange results",
	Unit:    "vertices",
	Sizes:   []int{1 << 14},
	Tiny:    1 << 10,
	Threads: 256,
	Blocks:  perSM,
	trace:   traceHITS,
	Fits: func(n int) error {
		if n < 16 || n > 500_000_000 {
			return fmt.Errorf("hits takes graphs of 16 to 500 million vertices, not %d", n)
		}
		return nil
	},
}

const (
	hitsRounds = 5
	// Scores are sums of positive numbers, so all have the same relative accuracy. Each warp adds its part to a norm
	// in float32, with an error of up to half a unit in the last place. The tolerance is for blocks of up to 256
	// threads; larger blocks have the same tolerance per warp (3.7e-5 at 2^18 vertices with 1024 threads on an H200,
	// 3e-6 with 32).
	hitsTolerance = 1e-4
)

// hitsMatrix is an adjacency matrix in CSR format.
type hitsMatrix struct{ ptr, idx, val array }

// hitsArrays holds the arrays of the program. Authorities are sums over the edges that lead to a vertex, hubs over
// the edges that leave it.
type hitsArrays struct {
	counters, norms tracer.Buffer // one element per product
	into, from      hitsMatrix
	hub1, auth1     array
	auth2, hub2     tracer.Buffer // before the division by their sums
}

func traceHITS(dev device.Device, p Params) (*Instance, error) {
	launch, err := newHITSShapes(&p)
	if err != nil {
		return nil, err
	}
	t := newProgram(dev, "hits", p)
	a := allocHITS(t)
	launchHITS(t, a, launch)

	return finish(t, proof[*hitsData]{
		data:  func() *hitsData { return newHITSData(&p) },
		reset: func(d *hitsData) error { return a.reset(t, d) },
		check: func(d *hitsData) (float64, error) { return a.check(d, hitsTolerance*max(1, float64(p.Threads)/256)) },
		hash:  (*hitsData).hash,
		steer: func() error { return a.steer(hitsEdges(&p), p.AsSuite) },
	})
}

func hitsEdges(p *Params) input.Edges { return input.NewEdges(input.Of("hits/idx", p.Seed), p.Size) }

// hitsData holds the inputs and the expected results of replays of one size.
type hitsData struct {
	from, into     input.Graph
	weights        []int32   // 1 for each edge
	scores         []float32 // 1 for each vertex
	authority, hub []float64
}

func newHITSData(p *Params) *hitsData {
	edges := hitsEdges(p)
	d := &hitsData{from: edges.Graph(), into: edges.Transpose()}
	d.weights = slices.Repeat([]int32{1}, len(d.from.Idx))
	d.scores = slices.Repeat([]float32{1}, p.Size)
	d.authority, d.hub = reference.HITS(d.from.Ptr, d.from.Idx, hitsRounds)
	return d
}

func (d *hitsData) hash() (h uint64) {
	for _, matrix := range []*input.Graph{&d.into, &d.from} {
		h = input.Hash(input.Hash(h, matrix.Ptr), matrix.Idx)
		h = input.Hash(input.Hash(h, d.weights), d.scores)
	}
	return h
}

// allocHITS allocates the arrays in the order of their first use.
func allocHITS(t *program) *hitsArrays {
	n := int64(t.params.Size)
	matrix := func(suffix string) hitsMatrix {
		return hitsMatrix{
			ptr: t.transferred("ptr"+suffix, ir.I32, n+1, ir.Input),
			idx: t.transferred("idx"+suffix, ir.I32, input.Degree*n, ir.Input),
			val: t.transferred("val"+suffix, ir.I32, input.Degree*n, ir.Input),
		}
	}
	return &hitsArrays{
		counters: t.Alloc("counters", ir.I32, 2*hitsRounds, ir.Temporary),
		norms:    t.Alloc("norms", ir.F32, 2*hitsRounds, ir.Temporary),
		into:     matrix("2"),
		hub1:     t.transferred("hub1", ir.F32, n, ir.InOut),
		from:     matrix(""),
		auth1:    t.transferred("auth1", ir.F32, n, ir.InOut),
		auth2:    t.Alloc("auth2", ir.F32, n, ir.Temporary),
		hub2:     t.Alloc("hub2", ir.F32, n, ir.Temporary),
	}
}

// hitsShapes holds the launch shapes, checked by the kernels' rules.
type hitsShapes struct{ spmv, sum, divide tracer.Shape }

// newHITSShapes launches one thread per row for the product, as the benchmark suite does, although four threads share
// a row. Most blocks of a large grid therefore have no work.
func newHITSShapes(p *Params) (*hitsShapes, error) {
	rows := (p.Size + p.Threads - 1) / p.Threads
	var s shapes
	all := &hitsShapes{
		spmv:   s.add(kernels.Spmv3Shape(rows, p.Threads, p.Size)),
		sum:    s.add(kernels.SumShape(p.Blocks, p.Threads, p.Size)),
		divide: s.add(kernels.DivideShape(p.Blocks, p.Threads, p.Size)),
	}
	return all, s.err
}

// launchHITS issues the launches in the order of the reference program.
func launchHITS(t *program, a *hitsArrays, s *hitsShapes) {
	n := t.params.Size
	spmv, sum, divide := t.kernel("spmv3"), t.kernel("sum"), t.kernel("divide")
	product := func(counter tracer.Buffer, m *hitsMatrix, from, to tracer.Buffer) {
		t.Launch(spmv, s.spmv, counter, m.ptr.dev, m.idx.dev, m.val.dev, from, to, n)
	}

	t.Memset(a.counters, 0)
	t.Memset(a.norms, 0)
	for _, chain := range [][]array{
		{a.into.ptr, a.into.idx, a.into.val, a.hub1},
		{a.from.ptr, a.from.idx, a.from.val, a.auth1},
	} {
		for _, b := range chain {
			t.upload(b)
		}
	}
	auth1, hub1 := a.auth1.dev, a.hub1.dev
	for round := range int64(hitsRounds) {
		one := func(b tracer.Buffer, chain int64) tracer.Buffer { return b.Slice(2*round+chain, 2*round+chain+1) }
		product(one(a.counters, 0), &a.into, hub1, a.auth2)
		product(one(a.counters, 1), &a.from, auth1, a.hub2)
		t.Launch(sum, s.sum, a.auth2, one(a.norms, 0), n)
		t.Launch(sum, s.sum, a.hub2, one(a.norms, 1), n)
		t.Launch(divide, s.divide, a.auth2, auth1, one(a.norms, 0), n)
		t.Launch(divide, s.divide, a.hub2, hub1, one(a.norms, 1), n)
	}
	t.download(a.auth1)
	t.download(a.hub1)
}

// reset poisons all memory that a replay writes, and writes the inputs.
func (a *hitsArrays) reset(t *program, d *hitsData) error {
	err := t.poison(a.counters, a.norms, a.auth2, a.hub2)
	for _, m := range []struct {
		to   *hitsMatrix
		from *input.Graph
	}{{&a.into, &d.into}, {&a.from, &d.from}} {
		err = firstError(err, refill(t, m.to.ptr, m.from.Ptr), refill(t, m.to.idx, m.from.Idx), refill(t, m.to.val, d.weights))
	}
	return firstError(err, refill(t, a.hub1, d.scores), refill(t, a.auth1, d.scores))
}

// steer writes the rows and columns, which determine the addresses of the products. The suite uses the same matrix in
// both chains.
func (a *hitsArrays) steer(e input.Edges, asSuite bool) error {
	into := e.WriteTranspose
	if asSuite {
		into = e.Write
	}
	return firstError(a.into.compose(into), a.from.compose(e.Write))
}

// compose writes the rows and columns to the memory that kernels read.
func (m *hitsMatrix) compose(write func(input.Graph)) error {
	ptr, err := tracer.Draft[int32](m.ptr.dev)
	if err != nil {
		return err
	}
	idx, err := tracer.Draft[int32](m.idx.dev)
	if err != nil {
		return err
	}
	write(input.Graph{Ptr: ptr, Idx: idx})
	return firstError(tracer.Write(m.ptr.dev, ptr), tracer.Write(m.idx.dev, idx))
}

// check compares both results, relative to each score.
func (a *hitsArrays) check(want *hitsData, tolerance float64) (largest float64, err error) {
	for _, c := range []struct {
		name string
		from array
		want []float64
	}{{"auth1", a.auth1, want.authority}, {"hub1", a.hub1, want.hub}} {
		got := make([]float32, len(c.want))
		if err := tracer.Read(got, c.from.host); err != nil {
			return largest, err
		}
		diff, _ := reference.MaxAbsDiff(got, c.want)
		largest = max(largest, diff)
		if err := reference.CompareRelative(c.name, got, c.want, tolerance); err != nil {
			return largest, err
		}
	}
	return largest, nil
}
