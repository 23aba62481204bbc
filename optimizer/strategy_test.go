package optimizer

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/ir"
)

// everyStrategy is each strategy by itself and with what it may take.
var everyStrategy = []string{
	"serial", "roundrobin", "roundrobin(1)", "roundrobin(3)", "levels", "levels(2)", "grcuda", "grcuda(same-as-parent)", "nimble", "nimble(1)", "nimble(2)",
	"listsched", "listsched(1)", "listsched(2)", "auto", "search(100)", "search(100:2)",
	"mincover",
	"coloring", "coloring(rlf)", "coloring(exact)",
}

// strategiesFor returns the strategies of everyStrategy that accept a graph with the given number of operations.
func strategiesFor(ops int) []string {
	return slices.DeleteFunc(slices.Clone(everyStrategy), func(name string) bool {
		return ops > maxColored && strings.HasPrefix(name, "coloring")
	})
}

func TestEveryStrategyIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, text := range everyStrategy {
		name, _, err := splitName("strategy", text)
		require.NoError(t, err)
		tested[name] = true
	}
	for _, s := range Strategies() {
		require.True(t, tested[s.Name], s.Name)
	}
}

// smallDAG is a random graph of at most 12 operations that take up to 10 us.
func smallDAG(t *testing.T, r *rand.Rand) *ir.Graph {
	n := 1 + r.IntN(12)
	g := graphOf(t, "small", n, densetest.RandomEdges(r, n, r.IntN(2*n), 1+r.IntN(n)))
	for v := range g.Ops {
		g.Ops[v].Cost = int64(r.IntN(10_000))
	}
	return g
}

// Whatever the strategy, lanes, order and waits imply every dependency there is, by the
// closure of what the schedule says: of each strategy's lanes, and of what all passes make of those
// of one or another, as a graph and over streams.
func TestEveryScheduleImpliesEveryDependency(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 41))
	for round := range densetest.Rounds(1_500) {
		g := smallDAG(t, r)
		planned := everyStrategy[round%len(everyStrategy)]
		res, err := Plan(g, Options{Strategy: planned, Streams: round%2 == 1, Verify: true})
		require.NoError(t, err)
		if planned != "auto" && !strings.HasPrefix(planned, "search") {
			require.Equal(t, planned, res.Schedule.Strategy)
		}
		require.NoError(t, ir.VerifySchedule(res.Schedule))
		require.True(t, holds(implied(res.Schedule), g), "round %d, %s", round, planned)
		for _, name := range everyStrategy {
			if name == "auto" || strings.HasPrefix(name, "search") { // they have the lanes of another
				continue
			}
			_, by, err := strategyNamed(name)
			require.NoError(t, err)
			if !holds(implied(scheduled(t, res.Reduced, by)), g) {
				t.Fatalf("round %d, %s", round, name)
			}
		}
	}
}
