package optimizer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
)

// smallKernels is a cost model with kernels of random lengths and sizes, by operation.
type smallKernels []model.Demand

func (c smallKernels) Demand(_ *ir.Graph, v ir.OpID) model.Demand { return c[v] }

func newSmallKernels(r *rand.Rand, n int) smallKernels {
	c := make(smallKernels, n)
	for v := range c {
		c[v] = model.Demand{Kind: model.Kernel, Blocks: float64(1 + r.IntN(2000)), PerSM: 8, BlockCycles: float64(500 + r.IntN(20000)), Memory: true, Bytes: float64(r.IntN(1 << 20))}
		if r.IntN(4) == 0 {
			c[v] = model.Demand{Kind: model.CopyOn, Bytes: float64(r.IntN(1 << 22))}
		}
	}
	return c
}

// cutSchedule plans a graph of empty operations with the costs of kernels, and returns a cutter of the schedule.
func cutSchedule(t *testing.T, g *ir.Graph, costs smallKernels, strategy string) (*ir.Schedule, *cutter) {
	opts := Options{Strategy: strategy, Costs: costs, Verify: true}
	plan, err := Plan(g, opts)
	require.NoError(t, err)
	f, err := opts.forecast(plan.Graph)
	require.NoError(t, err)
	return plan.Schedule, newCutter(plan.Schedule, f, nil)
}

// allowed returns the time that a piece may take.
func allowed(c *cutter, ops []ir.OpID, limit model.Time) model.Time {
	most := limit
	for _, v := range ops {
		if c.took[v] > limit {
			most = max(most, c.took[v]+c.took[v]/16)
		}
	}
	return most
}

// bruteForce returns the least cost of all divisions of an order. Pieces of one operation are allowed in any case.
func bruteForce(c *cutter, order []ir.OpID, limit model.Time) model.Time {
	best := never
	for cutsAt := range 1 << (len(order) - 1) {
		cost, from := model.Time(0), 0
		for end := 1; end <= len(order); end++ {
			if end < len(order) && cutsAt>>(end-1)&1 == 0 {
				continue
			}
			took := c.time(order[from:end])
			if took > allowed(c, order[from:end], limit) && end > from+1 {
				cost = never
				break
			}
			cost, from = cost+took+c.launch, end
		}
		best = min(best, cost)
	}
	return best
}

// everyOrder calls f with every order of a schedule that respects lanes and waits.
func everyOrder(c *cutter, n int, f func([]ir.OpID)) {
	waits := make([]int, n)
	for v, us := range c.preds {
		waits[v] = len(us)
	}
	var order []ir.OpID
	var extend func()
	extend = func() {
		if len(order) == n {
			f(order)
		}
		for v := range waits {
			if waits[v] != 0 {
				continue
			}
			waits[v] = -1
			for _, w := range c.succs[v] {
				waits[w]--
			}
			order = append(order, ir.OpID(v))
			extend()
			order = order[:len(order)-1]
			for _, w := range c.succs[v] {
				waits[w]++
			}
			waits[v] = 0
		}
	}
	extend()
}

// The division of a given order is the cheapest of all, and so is the segmentation of a chain.
func TestCutsOfOneOrderAreTheCheapest(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	several := 0
	for round := range densetest.Rounds(120) {
		n := 1 + r.IntN(9)
		g := graphOf(t, "g", n, randomEdges(r, n, []int{n, 2, 5}[round%3]))
		s, c := cutSchedule(t, g, newSmallKernels(r, n), []string{"serial", "nimble", "levels"}[r.IntN(3)])
		limit := model.Time(3+r.IntN(60)) * model.Microsecond
		x := c.cut(s.Order, c.ends(s.Order), limit)
		require.Equal(t, bruteForce(c, s.Order, limit), x.cost, "round %d", round)
		from, cost := 0, model.Time(0)
		for _, end := range x.ends {
			took := c.time(s.Order[from:end])
			require.True(t, took <= allowed(c, s.Order[from:end], limit) || end == from+1, "round %d", round)
			from, cost = end, cost+took+c.launch
		}
		require.Equal(t, x.cost, cost)
		require.Equal(t, n, from)
		if len(x.ends) > 1 && len(x.ends) < n {
			several++
		}
	}
	assert.GreaterOrEqual(t, several, densetest.Rounds(120)/5)
}

// randomEdges returns edges between operations that are at most a distance apart.
func randomEdges(r *rand.Rand, n, apart int) (edges []edge) {
	for v := 1; v < n; v++ {
		for u := max(0, v-apart); u < v; u++ {
			if r.IntN(3) == 0 {
				edges = append(edges, edge{int32(u), int32(v)})
			}
		}
	}
	return edges
}

// On small graphs, the cost is compared with the least one over all orders and all divisions.
func TestSegmentsAreNearTheCheapestOfAllOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 1))
	exact, worst, sum := 0, 1.0, 0.0
	rounds := densetest.Rounds(60)
	for round := range rounds {
		n := 2 + r.IntN(5)
		g := graphOf(t, "g", n, randomEdges(r, n, 3))
		s, c := cutSchedule(t, g, newSmallKernels(r, n), []string{"nimble", "levels", "mincover"}[r.IntN(3)])
		limit := model.Time(3+r.IntN(40)) * model.Microsecond
		best := never
		everyOrder(c, n, func(order []ir.OpID) { best = min(best, bruteForce(c, order, limit)) })
		got := c.best(s, limit).cost
		require.GreaterOrEqual(t, got, best, "round %d", round)
		ratio := float64(got) / float64(best)
		worst, sum = max(worst, ratio), sum+ratio
		if got == best {
			exact++
		}
	}
	t.Logf("%d of %d are optimal, ratio %.4f on average and %.4f at worst", exact, rounds, sum/float64(rounds), worst)
	assert.LessOrEqual(t, worst, 1.05)
	assert.LessOrEqual(t, sum/float64(rounds), 1.005)
}

// Beyond the bound of work, lower bounds decide, and pieces still respect the limit.
func TestCutsBeyondTheBoundOfWorkRespectTheLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 1))
	for range densetest.Rounds(20) {
		n := 1 + r.IntN(60)
		g := graphOf(t, "g", n, randomEdges(r, n, 4))
		s, c := cutSchedule(t, g, newSmallKernels(r, n), "nimble")
		c.work = maxCutWork + 1
		limit := 20 * model.Microsecond
		x := c.best(s, limit)
		from := 0
		for _, end := range x.ends {
			require.True(t, end == from+1 || c.time(x.order[from:end]) <= allowed(c, x.order[from:end], limit))
			from = end
		}
		require.Equal(t, n, from)
	}
}

// Plans of random programs with segments verify, round-trip, run every block once, and have no piece over the limit
// without a reason.
func TestSegmentsOfRandomPrograms(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 1))
	pieces, sliced, oversize := 0, 0, 0
	for round := range densetest.Rounds(60) {
		g := launches(r, 1+r.IntN(24))
		for v := range g.Ops {
			if l := g.Ops[v].Launch; l != nil {
				l.Grid.X *= uint32(1 + r.IntN(4000))
			}
		}
		limit := int64(1000 * (1 + r.IntN(8)))
		opts := Options{Strategy: []string{"nimble", "serial", "levels"}[r.IntN(3)], Streams: r.IntN(2) == 0, Verify: true, Also: []string{fmt.Sprintf("segment(%dns)", limit)}}
		for _, pass := range []string{"merge", "group", "priorities", "memplan"} {
			if r.IntN(4) == 0 {
				opts.Also = append(opts.Also, pass)
			}
		}
		plan, err := Plan(g, opts)
		require.NoError(t, err, "round %d", round)
		text := ir.Format(plan.Graph, plan.Schedule)
		f, err := ir.Load("segments.rir", string(text))
		require.NoError(t, err, "%s", text)
		require.Equal(t, string(text), string(ir.Format(f.Graph, f.Schedule)))
		for _, level := range plan.Schedule.Segments {
			for _, p := range level.Pieces {
				require.Equal(t, p.Predicted > level.Limit, p.Oversize != "", "round %d %v: %+v\n%s", round, opts.Also, p, text)
				pieces++
				if p.Oversize != "" {
					oversize++
				}
			}
		}
		sliced += len(plan.Graph.Sliced)
		requireAllBlocks(t, plan.Graph)
	}
	t.Logf("%d pieces, %d oversize, %d slices", pieces, oversize, sliced)
	assert.Positive(t, sliced)
	assert.Positive(t, oversize)
}

// requireAllBlocks checks that the slices of an operation follow each other and have all of its blocks.
func requireAllBlocks(t *testing.T, g *ir.Graph) {
	t.Helper()
	next := uint32(0)
	for v := range g.Ops {
		s, ok := g.Sliced[ir.OpID(v)]
		if !ok {
			require.Zero(t, next)
			continue
		}
		require.Equal(t, next, s.First)
		if next = s.First + s.Blocks; next == s.Of {
			next = 0
		}
		if l := g.Ops[v].Launch; l != nil {
			require.EqualValues(t, s.Blocks, l.Grid.Count())
		}
		require.True(t, s.First == 0 || slices.Contains(g.Ops[v].After, ir.OpID(v)-1))
	}
	require.Zero(t, next)
}

const slicedPTX = `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 x)
{
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [x];
  ret;
}
`

// Slices have whole waves where one fits into the limit, and otherwise as many blocks as fit.
func TestSlicesHaveWholeWaves(t *testing.T) {
	p := profiles.All()[0]
	wave := 8 * p.SMs
	for _, c := range []struct {
		name           string
		blocks, perSM  int
		cycles         float64
		limit          string
		want           []uint32
		oversizeReason string
	}{
		{"two waves in each slice", 5 * wave, 8, 10000, "14us", []uint32{uint32(2 * wave), uint32(2 * wave), uint32(wave)}, ""},
		{"evenly", 4 * wave, 8, 10000, "20us", []uint32{uint32(2 * wave), uint32(2 * wave)}, ""},
		{"one block is too long", 2 * wave, 8, 100000, "20us", nil, "a single block takes"},
		{"one block", 1, 8, 100000, "20us", nil, "the grid has one block"},
	} {
		f, err := ir.Load("g.rir", fmt.Sprintf(`graph g {
  module m "m.ptx"
  buffer @x f32[64] device(0) inout
  %%0 = launch m.k grid(%d) block(32) args(@x) uses(readwrite @x)
}
-- m.ptx --
%s`, c.blocks, slicedPTX))
		require.NoError(t, err)
		costs := smallKernels{{Kind: model.Kernel, Blocks: float64(c.blocks), PerSM: float64(c.perSM), BlockCycles: c.cycles}}
		plan, err := Plan(f.Graph, Options{Also: []string{"segment(" + c.limit + ")"}, Costs: sameCost(costs), Verify: true})
		require.NoError(t, err)
		var got []uint32
		for v := range plan.Graph.Ops {
			if s, ok := plan.Graph.Sliced[ir.OpID(v)]; ok {
				got = append(got, s.Blocks)
			}
		}
		assert.Equal(t, c.want, got, c.name)
		assert.Contains(t, plan.Schedule.Segments[0].Pieces[0].Oversize, c.oversizeReason, c.name)
		assert.Equal(t, c.oversizeReason != "", plan.Schedule.Segments[0].Pieces[0].Oversize != "", c.name)
	}
}

// sameCost returns the demand of the first operation for all of them.
type sameCost smallKernels

func (c sameCost) Demand(*ir.Graph, ir.OpID) model.Demand { return c[0] }
