package optimizer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
)

// What auto tries has names that stand for something.
func TestCandidatesExist(t *testing.T) {
	for _, c := range candidates {
		_, _, err := strategyNamed(c.strategy)
		require.NoError(t, err)
	}
}

// By prediction, auto is as quick as every strategy that it tries, serial among them, and
// its schedule is the one that the strategy which it names makes.
func TestAutoIsTheQuickest(t *testing.T) {
	r := rand.New(rand.NewPCG(54, 54))
	chosen := map[string]bool{}
	for round := range densetest.Rounds(300) {
		g := smallDAG(t, r)
		if round%2 == 0 {
			g = irtest.Random(r, 1+r.IntN(20))
		}
		best := plan(t, g, "auto").Schedule
		chosen[best.Strategy] = true
		width := plan(t, g, "nimble").Schedule.Lanes
		for _, c := range candidates {
			if c.minWidth > 0 && c.minWidth >= width {
				continue
			}
			s := plan(t, g, c.strategy).Schedule
			require.LessOrEqual(t, best.Predicted, s.Predicted, "round %d, %s", round, c.strategy)
			if c.strategy == best.Strategy {
				require.Equal(t, ir.PrintSchedule(s), ir.PrintSchedule(best))
			}
		}
	}
	require.Greater(t, len(chosen), 3, "hardly anything but one strategy was chosen: %v", chosen)
}

// No strategy is quicker, on whatever number of lanes. A search with other steps may be: its moves are others.
func TestAutoIsNotBeaten(t *testing.T) {
	r := rand.New(rand.NewPCG(55, 55))
	for round := range densetest.Rounds(8) {
		g := irtest.Random(r, 1+r.IntN(20))
		if round%2 == 0 {
			g = irtest.Contended(r, 3+r.IntN(18))
		}
		names := slices.DeleteFunc(slices.Clone(everyStrategy), func(name string) bool { return strings.HasPrefix(name, "search") })
		for k := 1; k <= g.Len(); k++ {
			for _, family := range []string{"nimble", "listsched", "levels", "roundrobin"} {
				names = append(names, fmt.Sprintf("%s(%d)", family, k))
			}
		}
		require.Empty(t, quicker(t, g, names, round%3 == 0), "round %d", round)
	}
}

// quicker returns a strategy that is predicted to be quicker than auto, "" if none is.
func quicker(t *testing.T, g *ir.Graph, names []string, streams bool) string {
	predicted := func(strategy string) int64 {
		res, err := Plan(g, Options{Strategy: strategy, Streams: streams})
		require.NoError(t, err, strategy)
		return res.Schedule.Predicted
	}
	best := predicted("auto")
	i := slices.IndexFunc(names, func(name string) bool { return predicted(name) < best })
	if i < 0 {
		return ""
	}
	return names[i]
}

// On networks, whose operations take as long as they like, no number of lanes from 1 to 16
// is quicker by more than a thousandth.
func TestAutoFindsTheLanesOfNetworks(t *testing.T) {
	r := rand.New(rand.NewPCG(56, 56))
	for _, name := range []string{"inception_v3", "nasnet_a_mobile", "darts"} {
		g := loadDAG(t, name)
		for v := range g.Ops {
			g.Ops[v].Cost = 500 + int64(math.Exp(4+3*r.Float64()))
		}
		best := plan(t, g, "auto").Schedule.Predicted
		for k := 1; k <= 16; k++ {
			for _, family := range []string{"nimble", "listsched", "levels", "roundrobin"} {
				s := plan(t, g, fmt.Sprintf("%s(%d)", family, k)).Schedule
				assert.LessOrEqual(t, float64(best), 1.001*float64(s.Predicted), "%s, %s", name, s.Strategy)
			}
		}
	}
}

// On wide graphs of short operations neither few lanes nor all there are is right, and auto
// is no slower than any number of lanes that a user would try; the bound is near.
func TestAutoFindsHowManyLanesAreWorthTheirLaunch(t *testing.T) {
	const n = 1000
	shapes := map[string][]edge{"parallel": nil}
	for v := range int32(n / 2) {
		shapes["pairs"] = append(shapes["pairs"], edge{2 * v, 2*v + 1})
	}
	for v := int32(1); v < n-1; v++ {
		shapes["fan"] = append(shapes["fan"], edge{0, v}, edge{v, n - 1})
	}
	for name, edges := range shapes {
		g := graphOf(t, name, n, edges)
		best := plan(t, g, "auto").Schedule.Predicted
		for k := 1; k <= 512; k *= 2 {
			for _, family := range []string{"roundrobin", "nimble", "listsched", "levels"} {
				s := plan(t, g, fmt.Sprintf("%s(%d)", family, k)).Schedule
				assert.LessOrEqual(t, float64(best), 1.01*float64(s.Predicted), "%s, %s", name, s.Strategy)
			}
		}
		bound, err := lowerBound(g, Options{})
		require.NoError(t, err)
		assert.Less(t, float64(best), 1.15*float64(bound), name)
	}
}

// What takes no time is not planned for every strategy that is tried.
func TestAutoTriesWithoutPassesThatNobodyAskedFor(t *testing.T) {
	for _, opts := range []Options{{}, {Passes: []string{"hazards", "assign", "syncs", "memplan"}}} {
		for _, p := range afterAssign(&opts) {
			assert.False(t, p.asked, p.name)
		}
	}
}

// Chains of tiny operations that overlap for less than a wait costs: no lanes at all.
func TestAutoGivesUpConcurrencyThatDoesNotPay(t *testing.T) {
	g := graphOf(t, "tiny", 4, []edge{{0, 1}, {0, 2}, {1, 3}, {2, 3}})
	for v := range g.Ops {
		g.Ops[v].Cost = 1
	}
	s := plan(t, g, "auto").Schedule
	assert.Equal(t, "serial", s.Strategy)
	assert.Less(t, s.Predicted, plan(t, g, "nimble").Schedule.Predicted)
}
