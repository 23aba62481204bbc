package optimizer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
)

// chainy is a random graph with declared costs in which most operations follow one that
// nothing followed yet.
func chainy(t *testing.T, r *rand.Rand, n int) *ir.Graph {
	var edges []edge
	ends := []int32{0}
	for v := int32(1); v < int32(n); v++ {
		if i := r.IntN(len(ends)); r.IntN(4) > 0 {
			edges = append(edges, edge{ends[i], v})
			ends[i] = v
			continue
		}
		for range r.IntN(3) {
			edges = append(edges, edge{int32(r.IntN(int(v))), v})
		}
		ends = append(ends, v)
	}
	g := graphOf(t, "chainy", n, edges)
	for v := range g.Ops {
		g.Ops[v].Cost = int64(r.IntN(5000))
	}
	return g
}

// TestCoarseningKeepsThePromisesOfStrategies expects the same numbers of lanes and waits with coarsening from strategies
// that use only the dependencies, because their guarantees are stated in these terms.
func TestCoarseningKeepsThePromisesOfStrategies(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 61))
	contracted := 0
	for range 150 {
		g := chainy(t, r, 1+r.IntN(30))
		for _, strategy := range []string{"serial", "nimble", "mincover", "coloring(exact)", "listsched", "auto"} {
			plain := plan(t, g, strategy)
			res, err := Plan(g, Options{Strategy: strategy, Also: []string{"coarsen"}, Verify: true})
			require.NoError(t, err)
			fine, coarse := plain.Schedule, res.Schedule
			require.NoError(t, ir.VerifySchedule(coarse))
			switch strategy {
			case "serial":
				require.Equal(t, ir.PrintSchedule(fine), ir.PrintSchedule(coarse))
			case "nimble":
				require.Equal(t, fine.Syncs(), coarse.Syncs())
				require.Equal(t, fine.Lanes, coarse.Lanes)
			case "mincover", "coloring(exact)":
				require.Equal(t, fine.Lanes, coarse.Lanes)
			case "auto":
				serial, err := Plan(g, Options{Strategy: "serial"})
				require.NoError(t, err)
				require.LessOrEqual(t, coarse.Predicted, serial.Schedule.Predicted)
			}
		}
		if c := grainsOf(plan(t, g, "serial").Reduced); c != nil {
			contracted += g.Len() - c.coarse.Len()
		}
	}
	assert.Greater(t, contracted, 1000)
}

// Grains by definition: operations are in the order of the program within theirs, every edge that
// enters one enters its first and every edge that leaves one its last, and no two can be made
// one. Paths between operations and between grains are the same.
func TestGrainsAreChains(t *testing.T) {
	r := rand.New(rand.NewPCG(62, 62))
	for round := range 400 {
		g := irtest.Random(r, 1+r.IntN(40))
		if round%2 == 0 {
			g = chainy(t, r, 1+r.IntN(30))
		}
		g, err := reduceOf(g)
		require.NoError(t, err)
		c := grainsOf(g)
		if c == nil {
			continue
		}
		grain := make([]ir.OpID, g.Len())
		all := slices.Clone(c.ops)
		for i := range c.coarse.Len() {
			ops := c.of(ir.OpID(i))
			require.True(t, slices.IsSorted(ops))
			for k, v := range ops {
				grain[v] = ir.OpID(i)
				if k > 0 {
					require.Equal(t, ops[k-1], g.DepsInto(v)[0].From)
					require.Len(t, g.DepsInto(v), 1)
					require.Len(t, g.Succs(ops[k-1]), 1)
				}
			}
		}
		slices.Sort(all)
		require.Equal(t, programOrder(g), all)
		fine, coarse := densetest.Closure(g.Len(), dagOf(g).Edges()), densetest.Closure(c.coarse.Len(), dagOf(c.coarse).Edges())
		for u := range grain {
			for v := u + 1; v < g.Len(); v++ {
				if a, b := grain[u], grain[v]; a != b {
					require.Equal(t, fine[u][v], coarse[min(a, b)][max(a, b)] && a < b)
				}
			}
		}
	}
}

// A grain takes as long as its operations do one after another, and as much of the device.
func TestGrainsAreAsDearAsTheirOperations(t *testing.T) {
	g := graphOf(t, "g", 3, []edge{{0, 1}, {1, 2}})
	p := profiles.All()[0]
	for v := range g.Ops {
		g.Ops[v] = ir.Op{Kind: ir.KindLaunch, Cost: -1, Launch: &ir.Launch{Entry: "k", Grid: ir.Dim3{X: 66, Y: 1, Z: 1}, Block: ir.Dim3{X: 1024, Y: 1, Z: 1}, Shared: uint32(p.Limits.SharedPerBlock)}}
	}
	c := grainsOf(g)
	require.Equal(t, 1, c.coarse.Len())
	costs := newDeclaredCosts(p)
	took := alone(g, p, costs)
	got := &grainCosts{grains: c, profile: p, fine: costs, gap: p.GraphEdgeGap}
	want := took[0] + took[1] + took[2] + 2*p.GraphEdgeGap
	assert.InEpsilon(t, float64(want), float64(alone(c.coarse, p, got)[0]), 0.02, "blocks start one a cycle, once")
	assert.InDelta(t, 0.5, footprintOf(got.Demand(c.coarse, 0), want, p).share[multiprocessors], 0.1, "66 of 132, but for the gaps")
}
