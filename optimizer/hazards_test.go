package optimizer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
)

// conflict is the hazards of running operation b of g after a and where the first one is, by
// comparing every access with every other.
func conflict(g *ir.Graph, u, v ir.OpID) (ir.Hazard, []ir.Range) {
	a, b := &g.Ops[u], &g.Ops[v]
	var kinds ir.Hazard
	var where []ir.Range
	for _, x := range a.Accesses(new([2]ir.Access)) {
		for _, y := range b.Accesses(new([2]ir.Access)) {
			if x.Empty() || y.Empty() || !x.Overlaps(y.Range) || !bytesMeet(g, x, y) {
				continue
			}
			before := kinds
			if x.Mode.Writes() && y.Mode.Reads() {
				kinds |= ir.RAW
			}
			if x.Mode.Reads() && y.Mode.Writes() {
				kinds |= ir.WAR
			}
			if x.Mode.Writes() && y.Mode.Writes() {
				kinds |= ir.WAW
			}
			if kinds != before || x.Mode.Writes() || y.Mode.Writes() {
				where = append(where, intersection(x.Range, y.Range))
			}
		}
	}
	return kinds, where
}

// bytesMeet compares the bytes of two accesses one by one.
func bytesMeet(g *ir.Graph, x, y ir.Access) (meet bool) {
	if x.Shape == 0 && y.Shape == 0 {
		return true // the ranges overlap
	}
	bytes := map[int64]bool{}
	each := func(a ir.Access, one func(int64)) {
		g.Box(a).Runs(func(lo, hi int64) bool {
			for ; lo < hi; lo++ {
				one(lo)
			}
			return true
		})
	}
	each(x, func(at int64) { bytes[at] = true })
	each(y, func(at int64) { meet = meet || bytes[at] })
	return meet
}

func intersection(a, b ir.Range) ir.Range {
	if a.Buffer != b.Buffer {
		return ir.Range{Buffer: a.Buffer}
	}
	return ir.Range{Buffer: a.Buffer, Lo: max(a.Lo, b.Lo), Hi: min(a.Hi, b.Hi)}
}

// allConflicts is the dependency graph of the definition: a quadratic number of
// pairs, an edge for every conflict and every after edge.
func allConflicts(g *ir.Graph) []edge {
	var edges []edge
	for v := range g.Ops {
		for u := range v {
			if kinds, _ := conflict(g, ir.OpID(u), ir.OpID(v)); kinds != 0 {
				edges = append(edges, edge{int32(u), int32(v)})
			}
		}
		for _, u := range g.Ops[v].After {
			edges = append(edges, edge{int32(u), int32(v)})
		}
	}
	return edges
}

// randomTrace has n operations with up to four accesses each to few, small
// buffers, so that ranges overlap in every way; some are empty, some operations
// use a buffer twice.
func randomTrace(r *rand.Rand, n int) *ir.Graph {
	g := &ir.Graph{Name: "random", Buffers: make([]ir.Buffer, 1+r.IntN(4))}
	for b := range g.Buffers {
		g.Buffers[b] = ir.Buffer{Name: fmt.Sprintf("b%d", b), Elem: ir.U8, Len: 16, Role: ir.InOut}
	}
	for v := range n {
		op := ir.Op{Kind: ir.KindHost, Label: "f", Cost: int64(r.IntN(5000))}
		for range r.IntN(4) {
			op.Uses = append(op.Uses, randomAccess(r, len(g.Buffers)))
		}
		if v > 0 && r.IntN(8) == 0 {
			op.After = []ir.OpID{ir.OpID(r.IntN(v))}
		}
		g.Ops = append(g.Ops, op)
	}
	return g
}

func randomAccess(r *rand.Rand, buffers int) ir.Access {
	a := ir.Access{Range: ir.Range{Buffer: ir.BufferID(r.IntN(buffers)), Hi: 16}, Mode: ir.Mode(r.IntN(4))}
	if r.IntN(2) == 0 {
		a.Lo = r.Int64N(17)
		a.Hi = a.Lo + r.Int64N(17-a.Lo)
	}
	return a
}

func TestHazardsOrderExactlyTheConflicts(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for round := range 600 {
		g := randomTrace(r, 1+r.IntN(40))
		h, err := hazards(g)
		require.NoError(t, err)
		want := densetest.Closure(g.Len(), allConflicts(g))
		assert.Equal(t, want, densetest.Closure(g.Len(), dagOf(h).Edges()), "round %d", round)
		checkCauses(t, h)
	}
}

// checkCauses compares what a dependency says about itself with the accesses of
// its two operations.
func checkCauses(t *testing.T, g *ir.Graph) {
	for _, d := range g.Deps() {
		kinds, where := conflict(g, d.From, d.To)
		memory := d.Hazard &^ ir.Ordered
		require.NotZero(t, d.Hazard)
		require.Zero(t, memory&^kinds, "%v -> %v claims %b, conflicts are %b", d.From, d.To, memory, kinds)
		if memory == 0 {
			require.Zero(t, d.Cause)
			continue
		}
		inside, cause := false, g.Cause(d)
		for _, w := range where {
			inside = inside || !cause.Empty() && intersection(w, cause) == cause
		}
		require.True(t, inside, "%v -> %v names %v, conflicts are at %v", d.From, d.To, cause, where)
	}
}

func TestHazardsRejectAfterALaterOperation(t *testing.T) {
	g := &ir.Graph{Ops: []ir.Op{{Kind: ir.KindEmpty, After: []ir.OpID{0}}}}
	_, err := hazards(g)
	assert.ErrorContains(t, err, "operation %0 is declared to run after %0")
}

// The number of dependencies stays linear where a list of all conflicts would be
// quadratic: many readers of one buffer, then writers and readers in turn.
func TestHazardsStayLinear(t *testing.T) {
	const n = 500
	g := &ir.Graph{Buffers: []ir.Buffer{{Name: "x", Elem: ir.U8, Len: n}}}
	use := func(lo, hi int64, m ir.Mode) {
		g.Ops = append(g.Ops, ir.Op{Kind: ir.KindHost, Uses: []ir.Access{{Range: ir.Range{Lo: lo, Hi: hi}, Mode: m}}})
	}
	for range n {
		use(0, n, ir.Read)
	}
	for i := range int64(n) {
		use(i, i+1, ir.Write) // splits a segment with n readers each time
	}
	use(0, n, ir.Write)
	for range n {
		use(0, n, ir.ReadWrite)
	}
	s := newHazardScan(g)
	for v := range g.Ops {
		require.NoError(t, s.op(ir.OpID(v), &g.Ops[v]))
	}
	assert.Len(t, s.past.deps, n*n+n+n, "each tile waits for all readers, the join for all tiles, the chain for its last")
	assert.Less(t, len(s.readers.links), 3*n, "splits share their readers")
}

// tiledTrace has tiles of one buffer changed, a few at a time, and then read all, by
// several operations of which some write a result that others read.
func tiledTrace(r *rand.Rand, tiles int64, ops int) *ir.Graph {
	g := &ir.Graph{Buffers: []ir.Buffer{{Name: "x", Elem: ir.U8, Len: tiles}, {Name: "y", Elem: ir.U8, Len: 4}}}
	use := func(uses ...ir.Access) { g.Ops = append(g.Ops, ir.Op{Kind: ir.KindHost, Uses: uses}) }
	result := func(m ir.Mode) ir.Access {
		at := r.Int64N(4)
		return ir.Access{Range: ir.Range{Buffer: 1, Lo: at, Hi: at + 1}, Mode: m}
	}
	for len(g.Ops) < ops {
		for range 1 + r.IntN(3) {
			lo := r.Int64N(tiles)
			uses := []ir.Access{{Range: ir.Range{Lo: lo, Hi: min(tiles, lo+1+r.Int64N(2))}, Mode: ir.Write}}
			if r.IntN(4) == 0 {
				uses = append(uses, result(ir.Read))
			}
			use(uses...)
		}
		for range r.IntN(4) {
			lo := r.Int64N(1 + tiles/8)
			use(ir.Access{Range: ir.Range{Lo: lo, Hi: tiles}, Mode: ir.Read}, result(ir.Mode(r.IntN(2))))
		}
	}
	return g
}

// An operation that waits for many has the implied ones left out, and the order stays
// that of the definition.
func TestHazardsThinLongRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	dropped := 0
	for round := range 20 {
		g := tiledTrace(r, manyWaits+r.Int64N(100), 100+r.IntN(200))
		h, err := hazards(g)
		require.NoError(t, err)
		all := allConflicts(g)
		require.Equal(t, densetest.Closure(g.Len(), all), densetest.Closure(g.Len(), dagOf(h).Edges()), "round %d", round)
		checkCauses(t, h)
		dropped += len(all) - len(h.Deps())
	}
	assert.Greater(t, dropped, 20*1000, "the traces are not what they should be")
}

// Of a long trace the dependencies on one of the 64 operations before are those of the definition's
// reduction at once, and the others lose nothing that it needs.
func TestHazardsOfLongTracesAreReducedNearby(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	near := func(edges []edge) []edge {
		return slices.DeleteFunc(slices.Clone(edges), func(e edge) bool { return e.To-e.From > nearOps })
	}
	for round := range 300 {
		g := irtest.Random(r, 1+r.IntN(100))
		if round%10 == 0 {
			g = tiledTrace(r, 2+r.Int64N(80), 100+r.IntN(100))
		}
		s := newHazardScan(g)
		s.past.near = make([]uint64, g.Len())
		h, err := s.scan(g)
		require.NoError(t, err)
		checkCauses(t, h)
		want := densetest.Reduction(g.Len(), allConflicts(g))
		require.True(t, slices.Equal(near(want), near(dagOf(h).Edges())), "round %d", round)
		reduced, err := reduce(h)
		require.NoError(t, err)
		require.True(t, slices.Equal(want, dagOf(reduced).Edges()), "round %d, reduced", round)
	}
}

// Where every change of a tile is followed by readers of all, memory stays linear:
// neither dependencies nor lists of readers grow with tiles times readers.
func TestHazardsOfTilesStayLinear(t *testing.T) {
	const tiles, rounds = 400, 3
	for _, readers := range []int{1, 5} {
		g := &ir.Graph{Buffers: []ir.Buffer{{Name: "x", Elem: ir.U8, Len: tiles}}}
		use := func(lo, hi int64, m ir.Mode) {
			g.Ops = append(g.Ops, ir.Op{Kind: ir.KindHost, Uses: []ir.Access{{Range: ir.Range{Lo: lo, Hi: hi}, Mode: m}}})
		}
		for i := range int64(rounds * tiles) {
			use(i%tiles, i%tiles+1, ir.Write)
			for range readers {
				use(0, tiles, ir.Read)
			}
		}
		s := newHazardScan(g)
		for v := range g.Ops {
			require.NoError(t, s.op(ir.OpID(v), &g.Ops[v]))
		}
		changes := rounds * tiles
		assert.Less(t, len(s.past.deps), manyWaits*readers*changes, "%d readers", readers)
		assert.Less(t, len(s.readers.links), manyWaits*readers*changes, "%d readers", readers)
	}
}

// bigTrace is ops launches over a ring of vectors, like an iterative solver:
// each reads two vectors and updates a third, now and then one tile at a time.
func bigTrace(ops int) *ir.Graph {
	r := rand.New(rand.NewPCG(5, 5))
	const vectors, size, tile = 64, 1 << 20, 1 << 14
	g := &ir.Graph{Buffers: make([]ir.Buffer, vectors), Ops: make([]ir.Op, ops)}
	for b := range g.Buffers {
		g.Buffers[b] = ir.Buffer{Elem: ir.U8, Len: size, Role: ir.InOut}
	}
	uses := make([]ir.Access, 3*ops)
	for v := range g.Ops {
		u := uses[3*v : 3*v+3 : 3*v+3]
		lo, hi := int64(0), int64(size)
		if r.IntN(4) == 0 {
			lo = tile * r.Int64N(size/tile)
			hi = lo + tile
		}
		for i, m := range []ir.Mode{ir.Read, ir.Read, ir.ReadWrite} {
			u[i] = ir.Access{Range: ir.Range{Buffer: ir.BufferID(r.IntN(vectors)), Lo: lo, Hi: hi}, Mode: m}
		}
		g.Ops[v] = ir.Op{Kind: ir.KindHost, Uses: u, Cost: -1}
	}
	return g
}

func BenchmarkHazards(b *testing.B) {
	for _, ops := range []int{1000, 1_000_000} {
		g := bigTrace(ops)
		b.Run(fmt.Sprintf("ops=%d", ops), func(b *testing.B) {
			for b.Loop() {
				h, err := hazards(g)
				require.NoError(b, err)
				b.ReportMetric(float64(len(h.Deps())), "deps")
			}
		})
	}
}
