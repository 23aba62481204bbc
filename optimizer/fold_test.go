package optimizer

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/ir/irtest"
)

// On random graphs folding makes valid schedules that are predicted to take no longer, in
// either form, on no more lanes; and while the times of kernels are only guessed, it orders
// nothing after a kernel that was not before.
func TestFoldingKeepsTheConcurrencyOfKernels(t *testing.T) {
	profile := des.Profiles()[0]
	for _, streams := range []bool{false, true} {
		for _, costs := range []CostModel{nil, DeclaredCosts(profile)} {
			t.Run(fmt.Sprintf("streams=%v/guessed=%v", streams, costs == nil), func(t *testing.T) {
				r := rand.New(rand.NewPCG(21, 21))
				folded := 0
				for round := range 1000 {
					g := irtest.Random(r, 1+r.IntN(40))
					opts := Options{Streams: streams, Costs: costs, Passes: []string{"hazards", "reduce", "assign", "syncs", "predict"}}
					before, err := Plan(g, opts)
					require.NoError(t, err)
					opts.Passes, opts.Verify = append(opts.Passes, "fold"), true
					after, err := Plan(g, opts)
					require.NoError(t, err)
					require.LessOrEqual(t, after.Schedule.Predicted, before.Schedule.Predicted, "round %d", round)
					require.LessOrEqual(t, after.Schedule.Lanes, before.Schedule.Lanes, "round %d", round)
					was, is := ordered(before.Schedule), ordered(after.Schedule)
					for u := range g.Ops {
						for v := range g.Ops {
							if !is[u][v] || was[u][v] {
								continue
							}
							folded++
							if costs == nil {
								require.NotEqual(t, ir.KindLaunch, g.Ops[u].Kind, "round %d: %%%d behind %%%d", round, v, u)
							}
						}
					}
				}
				require.Greater(t, folded, 30, "hardly anything was folded")
			})
		}
	}
}

// The yardstick stays what it says, whatever times are known and could be saved.
func TestSerialKeepsProgramOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 23))
	for round := range 300 {
		g := irtest.Random(r, 1+r.IntN(40))
		for _, streams := range []bool{false, true} {
			plan, err := Plan(g, Options{Strategy: "serial", Streams: streams, Costs: DeclaredCosts(des.Profiles()[0])})
			require.NoError(t, err)
			require.Equal(t, programOrder(g), plan.Schedule.Order, "round %d, streams %v", round, streams)
		}
	}
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

// Other lanes never say anything else, and never with more lanes or waits.
func TestRelaningKeepsWhatRunsBeforeWhat(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 22))
	fewer := 0
	for round := range 1000 {
		g, err := reduce(irtest.Analyze(irtest.Random(r, 1+r.IntN(30))))
		require.NoError(t, err)
		a := assignment{lane: make([]ir.LaneID, g.Len()), order: programOrder(g)}
		for v := range a.lane {
			a.lane[v] = ir.LaneID(r.IntN(5))
		}
		s := &ir.Schedule{Graph: g, Order: a.order}
		s.Lane, s.Lanes = renumbered(a)
		require.NoError(t, syncs(s, nil))
		was, lanes, waits := ordered(s), s.Lanes, s.Syncs()
		relane(s)
		require.NoError(t, ir.VerifySchedule(s), "round %d", round)
		require.Equal(t, was, ordered(s), "round %d", round)
		require.LessOrEqual(t, s.Lanes, lanes, "round %d", round)
		require.LessOrEqual(t, s.Syncs(), waits, "round %d", round)
		if s.Lanes < lanes || s.Syncs() < waits {
			fewer++
		}
	}
	require.Greater(t, fewer, 30, "hardly anything was saved")
}
