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

// planMemory plans with memplan besides, and has every pass checked.
func planMemory(t testing.TB, g *ir.Graph, strategy string) *ir.Schedule {
	t.Helper()
	res, err := Plan(g, Options{Strategy: strategy, Also: []string{"memplan"}, Verify: true})
	require.NoError(t, err)
	return res.Schedule
}

// requireNoOverlap compares all pairs of buffers: those that share a byte of the arena must
// be used one after the other along the closure of lanes and waits.
func requireNoOverlap(t testing.TB, s *ir.Schedule) {
	t.Helper()
	before := orderOf(s)
	uses := make([][]ir.OpID, len(s.Graph.Buffers))
	for v := range s.Graph.Ops {
		for _, a := range s.Graph.Ops[v].Accesses(new([2]ir.Access)) {
			if !a.Empty() {
				uses[a.Buffer] = append(uses[a.Buffer], ir.OpID(v))
			}
		}
	}
	all := func(a, b int) bool {
		for _, u := range uses[a] {
			for _, v := range uses[b] {
				if !before[u][v] {
					return false
				}
			}
		}
		return true
	}
	for a := range s.Offset {
		for b := range a {
			if share(s, a, b) {
				require.True(t, all(a, b) || all(b, a), "@%s and @%s overlap\n%s", s.Graph.Buffers[a].Name, s.Graph.Buffers[b].Name, ir.Format(s.Graph, s))
			}
		}
	}
}

func share(s *ir.Schedule, a, b int) bool {
	x, y := s.Offset[a], s.Offset[b]
	return x >= 0 && y >= 0 && max(x, y) < min(x+s.Graph.Buffers[a].Size(), y+s.Graph.Buffers[b].Size())
}

// orderOf is the closure of lanes and waits, by following them pair by pair.
func orderOf(s *ir.Schedule) [][]bool {
	n := s.Graph.Len()
	before := make([][]bool, n)
	for v := range before {
		before[v] = make([]bool, n)
	}
	for at, v := range s.Order {
		var preds []ir.OpID
		for _, u := range s.Order[:at] {
			if s.Lane[u] == s.Lane[v] || slices.Contains(s.Waits[v], u) {
				preds = append(preds, u)
			}
		}
		for _, u := range preds {
			before[u][v] = true
			for w := range n {
				before[w][v] = before[w][v] || before[w][u]
			}
		}
	}
	return before
}

// temporaries is a random program of kernels over temporaries of random sizes: each
// writes one that is new and reads some that are written.
func temporaries(r *rand.Rand, ops, spread int) *ir.Graph {
	g := &ir.Graph{Name: "temporaries", Modules: []ir.Module{{Name: "m", File: "m.ptx"}}}
	for v := range ops {
		g.Buffers = append(g.Buffers, ir.Buffer{Name: fmt.Sprintf("b%d", v), Len: 256*r.Int64N(8) + 1})
		op := ir.Op{Kind: ir.KindLaunch, Cost: -1, Launch: &ir.Launch{Entry: "k", Grid: ir.Dim3{X: 1, Y: 1, Z: 1}, Block: ir.Dim3{X: 1, Y: 1, Z: 1}}}
		use := func(b int, m ir.Mode) {
			id := ir.BufferID(b)
			op.Launch.Args = append(op.Launch.Args, ir.Arg{Kind: ir.ArgBuffer, Buffer: id})
			op.Uses = append(op.Uses, ir.Access{Range: ir.Range{Buffer: id, Hi: g.Buffers[b].Size()}, Mode: m})
		}
		use(v, ir.Write)
		for range min(v, r.IntN(3)) {
			use(v-1-r.IntN(min(v, spread)), ir.Read)
		}
		g.Ops = append(g.Ops, op)
	}
	return g
}

// Under every strategy no two buffers lie on the same bytes at once, and the arena is
// no smaller than the bound. The verifier of ir, which is independent of memory plans, agrees.
func TestMemoryPlansDoNotOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 31))
	shared := 0
	for round := range 40 {
		g := temporaries(r, 1+r.IntN(30), 1+r.IntN(8))
		if round%3 == 0 {
			g = irtest.Random(r, 1+r.IntN(40))
		}
		for _, strategy := range Strategies() {
			s := planMemory(t, g, strategy.Name)
			requireNoOverlap(t, s)
			m := memoryOf(s)
			require.LessOrEqual(t, m.Bound, m.After)
			require.LessOrEqual(t, m.After, m.Before)
			if m.After < m.Before {
				shared++
			}
			large := *s
			large.Offset = slices.Clone(s.Offset)
			lives := livesOf(s)
			for i, at := range sweepArena(dagOfSchedule(s), lives) {
				large.Offset[lives[i].buffer] = at
			}
			requireNoOverlap(t, &large)
			require.NoError(t, ir.VerifySchedule(&large))
			require.LessOrEqual(t, m.Bound, memoryOf(&large).After)
		}
	}
	assert.Greater(t, shared, 150)
}

// smallest is the least arena there is, by trying every order: one of lowest places is
// an optimum.
func smallest(s *ir.Schedule) int64 {
	before := orderOf(s)
	lives := livesOf(s)
	uses := func(l life) (ids []ir.OpID) {
		for v := range s.Graph.Ops {
			if slices.ContainsFunc(s.Graph.Ops[v].Uses, func(a ir.Access) bool { return a.Buffer == l.buffer }) {
				ids = append(ids, ir.OpID(v))
			}
		}
		return ids
	}
	follows := func(a, b life) bool {
		return !slices.ContainsFunc(uses(a), func(u ir.OpID) bool {
			return slices.ContainsFunc(uses(b), func(v ir.OpID) bool { return !before[u][v] })
		})
	}
	at := make([]int64, len(lives))
	least := int64(1) << 62
	var try func(placed []int, top int64)
	try = func(placed []int, top int64) {
		if len(placed) == len(lives) {
			least = min(least, top)
		}
		for i := range lives {
			if slices.Contains(placed, i) {
				continue
			}
			at[i] = 0
			for moved := true; moved; {
				moved = false
				for _, j := range placed {
					if at[i] < at[j]+lives[j].size && at[j] < at[i]+lives[i].size && !follows(lives[i], lives[j]) && !follows(lives[j], lives[i]) {
						at[i], moved = at[j]+lives[j].size, true
					}
				}
			}
			try(append(slices.Clip(placed), i), max(top, at[i]+lives[i].size))
		}
	}
	try(nil, 0)
	return least
}

// What finds a buffer by other means than its operands would not find it in an arena.
func TestMemoryPlansLeaveWhatOthersKnowWhereItIs(t *testing.T) {
	f, err := ir.Parse("", `graph g {
  module m "m.ptx"
  buffer @x f32[64] device(0) output
  buffer @passed f32[64] device(0)
  buffer @known f32[64] device(0)
  buffer @called f32[64] device(0)
  %0 = launch m.k grid(1) block(64) args(@passed, @called) uses(write @passed, write @known, write @called)
  %1 = host "f" uses(read @called)
  %2 = launch m.k grid(1) block(64) args(@passed, @x) uses(read @passed, read @known, write @x)
}
`)
	require.NoError(t, err)
	s := planMemory(t, f.Graph, "serial")
	assert.Equal(t, []int64{-1, 0, -1, -1}, s.Offset)
}

// The same of many small programs, each under one strategy.
func TestSmallMemoryPlansDoNotOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 37))
	shared := 0
	for round := range densetest.Rounds(2_500) {
		g := temporaries(r, 1+r.IntN(12), 1+r.IntN(6))
		s := planMemory(t, g, everyStrategy[round%len(everyStrategy)])
		requireNoOverlap(t, s)
		if m := memoryOf(s); m.After < m.Before {
			shared++
		}
	}
	assert.Greater(t, shared, densetest.Rounds(2_500)/20)
}

// Tiny programs, whose best arenas are known by trying all: how often ours is as small,
// and how often the bound says so.
func TestMemoryPlansAgainstTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 32))
	rounds, best, tight := 300, 0, 0
	for range rounds {
		g := temporaries(r, 2+r.IntN(4), 3)
		s := planMemory(t, g, []string{"serial", "nimble", "roundrobin(2)"}[r.IntN(3)])
		least, m := smallest(s), memoryOf(s)
		require.LessOrEqual(t, m.Bound, least)
		require.GreaterOrEqual(t, m.After, least)
		if m.After == least {
			best++
		}
		if m.Bound == least {
			tight++
		}
	}
	t.Logf("of %d programs %d arenas are the smallest, and %d bounds", rounds, best, tight)
	assert.GreaterOrEqual(t, best, rounds*99/100)
	assert.GreaterOrEqual(t, tight, rounds*95/100)
}

// One after the other on one lane, buffers are alive as they would be in time, so the most
// bytes alive at once are a bound that is known, and that of many buffers finds it. Rooms are
// had again in one block of lives after the other, so the arena does not grow with them.
func TestMemoryPlansOfOneLane(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 35))
	for _, spread := range []int{1, 40} {
		s := planMemory(t, temporaries(r, maxAntichain+500, spread), "serial")
		lives := livesOf(s)
		alive, most := int64(0), int64(0)
		for rank := range s.Graph.Len() {
			for _, l := range lives {
				if l.heads[0] == int32(rank) {
					alive += l.size
				}
			}
			most = max(most, alive)
			for _, l := range lives {
				if l.tails[0] == int32(rank) {
					alive -= l.size
				}
			}
		}
		require.Equal(t, most, leastArena(s, lives))
		top := int64(0)
		for i, at := range sweepArena(dagOfSchedule(s), lives) {
			top = max(top, at+lives[i].size)
		}
		require.LessOrEqual(t, top, 2*most)
		require.LessOrEqual(t, memoryOf(s).After, top, "first use is one of the orders that packing tries")
	}
}

// Of many buffers on many lanes the bound is still one, and no worse than what a part of them
// would have: a flow through all of them says what it could be at best.
func TestMemoryBoundsOfManyLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(36, 36))
	for _, strategy := range []string{"nimble", "roundrobin(4)"} {
		s := planMemory(t, temporaries(r, maxAntichain+300, 40), strategy)
		lives := livesOf(s)
		require.Greater(t, len(lives), maxAntichain)
		best := antichain(lives, conflictsOf(dagOfSchedule(s), lives))
		bound := leastArena(s, lives)
		assert.LessOrEqual(t, bound, best, strategy)
		assert.GreaterOrEqual(t, bound, best/2, strategy)
		m := memoryOf(s)
		assert.LessOrEqual(t, m.Bound, m.After, strategy)
	}
}

// A hundred thousand buffers are planned in seconds, whether few are alive at once or many.
func TestMemoryPlansOfManyBuffers(t *testing.T) {
	if testing.Short() {
		t.Skip("plans a hundred thousand buffers, which takes seconds: run without -short")
	}
	r := rand.New(rand.NewPCG(33, 33))
	for _, c := range []struct {
		spread   int
		strategy string
	}{{8, "nimble"}, {1000, "roundrobin(8)"}} {
		g := temporaries(r, 100_000, c.spread)
		res, err := Plan(g, Options{Strategy: c.strategy, Passes: []string{"hazards", "reduce", "assign", "syncs", "memplan"}})
		require.NoError(t, err)
		require.NoError(t, ir.VerifySchedule(res.Schedule))
		m := memoryOf(res.Schedule)
		require.LessOrEqual(t, m.Bound, m.After)
		require.Less(t, m.After, m.Before*9/10)
		t.Logf("%d lanes: %d bytes to %d, bound %d", res.Schedule.Lanes, m.Before, m.After, m.Bound)
	}
}

// The time of memplan alone, by how far back operations read and by lanes.
func BenchmarkMemplan(b *testing.B) {
	for _, n := range []int{1000, 4000, 10_000, 100_000} {
		for _, spread := range []int{8, n} {
			for _, strategy := range []string{"serial", "roundrobin(8)", "nimble"} {
				g := temporaries(rand.New(rand.NewPCG(34, 34)), n, spread)
				res, err := Plan(g, Options{Strategy: strategy, Passes: []string{"hazards", "reduce", "assign", "syncs"}})
				require.NoError(b, err)
				b.Run(fmt.Sprintf("buffers=%d/spread=%d/%s", n, spread, strategy), func(b *testing.B) {
					for b.Loop() {
						require.NoError(b, memplan(res.Schedule, nil))
					}
					m := memoryOf(res.Schedule)
					b.ReportMetric(float64(m.After)/float64(m.Before), "of-before")
					b.ReportMetric(float64(m.After)/float64(m.Bound), "of-bound")
				})
			}
		}
	}
}
