package optimizer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/ir"
)

// randomOrder is a random topological order of g.
func randomOrder(r *rand.Rand, g *ir.Graph) []ir.OpID {
	missing := make([]int, g.Len())
	var ready, order []ir.OpID
	for v := range missing {
		if missing[v] = len(g.DepsInto(ir.OpID(v))); missing[v] == 0 {
			ready = append(ready, ir.OpID(v))
		}
	}
	for len(ready) > 0 {
		i := r.IntN(len(ready))
		v := ready[i]
		ready = slices.Delete(ready, i, i+1)
		order = append(order, v)
		for _, w := range g.Succs(v) {
			if missing[w]--; missing[w] == 0 {
				ready = append(ready, w)
			}
		}
	}
	return order
}

// implied is what runs before what under lanes, order and waits.
func implied(s *ir.Schedule) [][]bool {
	rank := make([]int32, len(s.Order))
	for i, v := range s.Order {
		rank[v] = int32(i)
	}
	var edges []edge
	last := slices.Repeat([]int32{-1}, s.Lanes)
	for i, v := range s.Order {
		if l := s.Lane[v]; last[l] >= 0 {
			edges = append(edges, edge{last[l], int32(i)})
		}
		last[s.Lane[v]] = int32(i)
		for _, u := range s.Waits[v] {
			edges = append(edges, edge{rank[u], int32(i)})
		}
	}
	byRank := densetest.Closure(len(s.Order), edges)
	byOp := make([][]bool, len(s.Order))
	for u := range byOp {
		byOp[u] = make([]bool, len(s.Order))
		for v := range byOp {
			byOp[u][v] = byRank[rank[u]][rank[v]]
		}
	}
	return byOp
}

func holds(reach [][]bool, g *ir.Graph) bool {
	for _, d := range g.Deps() {
		if !reach[d.From][d.To] {
			return false
		}
	}
	return true
}

// For any lanes and any order, not only those of a strategy: the waits are
// enough, they order nothing beyond dependencies and lanes, each is between
// lanes, and without any one of them some dependency breaks.
func TestSyncsAreEnoughAndMinimal(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for round := range 300 {
		n := 1 + r.IntN(30)
		g := graphOf(t, "random", n, densetest.RandomEdges(r, n, r.IntN(4*n), 1+r.IntN(n)))
		s := &ir.Schedule{Graph: g, Lanes: 1 + r.IntN(5), Order: randomOrder(r, g), Lane: make([]ir.LaneID, n)}
		for v := range s.Lane {
			s.Lane[v] = ir.LaneID(r.IntN(s.Lanes))
		}
		require.NoError(t, syncs(s, &Options{}))

		full := *s
		full.Waits = allDependencies(g)
		require.Equal(t, implied(&full), implied(s), "round %d: waits order more or less than the dependencies do", round)
		checkEachWaitCounts(t, s)
	}
}

// allDependencies waits for everything.
func allDependencies(g *ir.Graph) [][]ir.OpID {
	waits := make([][]ir.OpID, g.Len())
	for _, d := range g.Deps() {
		waits[d.To] = append(waits[d.To], d.From)
	}
	return waits
}

func checkEachWaitCounts(t *testing.T, s *ir.Schedule) {
	for v := range s.Waits {
		require.True(t, slices.IsSorted(s.Waits[v]))
		for i, u := range s.Waits[v] {
			require.NotEqual(t, s.Lane[u], s.Lane[v], "%v waits for %v on its own lane", v, u)
			less := *s
			less.Waits = slices.Clone(s.Waits)
			less.Waits[v] = slices.Delete(slices.Clone(s.Waits[v]), i, i+1)
			require.False(t, holds(implied(&less), s.Graph), "%v need not wait for %v", v, u)
		}
	}
}

// Exhaustively for small programs: every set of waits that orders what the dependencies and
// lanes order, and nothing else, contains those of syncs. For if one could be left out, so
// it could from the set of all waits that are allowed, the greatest of these sets.
func TestSyncsAreInEverySetOfWaits(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	waits := 0
	for round := range 10_000 {
		n := 1 + r.IntN(12)
		g := graphOf(t, "random", n, densetest.RandomEdges(r, n, r.IntN(4*n), 1+r.IntN(n)))
		s := &ir.Schedule{Graph: g, Lanes: 1 + r.IntN(n), Order: randomOrder(r, g), Lane: make([]ir.LaneID, n)}
		for v := range s.Lane {
			s.Lane[v] = ir.LaneID(r.IntN(s.Lanes))
		}
		require.NoError(t, syncs(s, &Options{}))
		waits += s.Syncs()
		if wanted := neededWaits(s); !slices.EqualFunc(wanted, s.Waits, slices.Equal) {
			t.Fatalf("round %d: waits %v, needed are %v\n%s", round, s.Waits, wanted, ir.PrintSchedule(s))
		}
	}
	require.Greater(t, waits, 10_000)
}

// relation says, by operation, which others it is ordered before: a bit each.
type relation [12]uint16

// closed is the transitive closure. Bits are in order of submission.
func (r relation) closed() relation {
	for u := len(r) - 1; u >= 0; u-- {
		for v := u + 1; v < len(r); v++ {
			if r[u]>>v&1 != 0 {
				r[u] |= r[v]
			}
		}
	}
	return r
}

// neededWaits tries each pair that is ordered and on two lanes: it is needed if all other
// such pairs together do not bring it about.
func neededWaits(s *ir.Schedule) [][]ir.OpID {
	rank := make([]int, len(s.Order))
	for i, v := range s.Order {
		rank[v] = i
	}
	var ordered relation
	sameLane := func(i, j int) bool { return s.Lane[s.Order[i]] == s.Lane[s.Order[j]] }
	for j := range s.Order {
		for i := range j {
			if sameLane(i, j) {
				ordered[i] |= 1 << j
			}
		}
	}
	for _, d := range s.Graph.Deps() {
		ordered[rank[d.From]] |= 1 << rank[d.To]
	}
	ordered = ordered.closed()
	needed := make([][]ir.OpID, len(s.Order))
	for j, v := range s.Order {
		for i, u := range s.Order[:j] {
			if sameLane(i, j) || ordered[i]>>j&1 == 0 {
				continue
			}
			others := ordered
			others[i] &^= 1 << j
			if others.closed() != ordered {
				needed[v] = append(needed[v], u)
			}
		}
		slices.Sort(needed[v])
	}
	return needed
}

func TestSerialNeedsNoWaits(t *testing.T) {
	for _, c := range densetest.Published {
		s := plan(t, loadDAG(t, c.Name), "serial").Schedule
		assert.Equal(t, 1, s.Lanes)
		assert.Zero(t, s.Syncs())
	}
}
