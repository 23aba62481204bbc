package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/ir/irtest"
)

// On random graphs folding makes valid schedules that are predicted no slower, and
// orders nothing after a kernel that was not before.
func TestFoldingKeepsTheConcurrencyOfKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 21))
	folded := 0
	for round := range 1500 {
		g := irtest.Random(r, 1+r.IntN(40))
		passes := []string{"hazards", "reduce", "assign", "syncs", "predict"}
		before, err := Plan(g, Options{Passes: passes})
		require.NoError(t, err)
		after, err := Plan(g, Options{Passes: append(passes, "fold"), Verify: true})
		require.NoError(t, err)
		require.NoError(t, ir.VerifySchedule(after.Schedule))
		require.LessOrEqual(t, after.Schedule.Predicted, before.Schedule.Predicted, "round %d", round)
		was, is := ordered(before.Schedule), ordered(after.Schedule)
		for u := range g.Ops {
			for v := range g.Ops {
				if is[u][v] && !was[u][v] {
					folded++
					require.NotEqual(t, ir.KindLaunch, g.Ops[u].Kind, "round %d: %%%d behind %%%d", round, v, u)
				}
			}
		}
	}
	require.Greater(t, folded, 30, "hardly anything was folded")
}

// ordered is the transitive closure of what a schedule becomes.
func ordered(s *ir.Schedule) [][]bool {
	preds := predecessors(s)
	before := make([][]bool, len(preds)) // by operation: which are before it
	for _, v := range s.Order {
		before[v] = make([]bool, len(preds))
		for _, u := range preds[v] {
			before[v][u] = true
			for w, is := range before[u] {
				before[v][w] = before[v][w] || is
			}
		}
	}
	after := make([][]bool, len(preds))
	for u := range after {
		after[u] = make([]bool, len(preds))
		for v := range before {
			after[u][v] = before[v][u]
		}
	}
	return after
}
