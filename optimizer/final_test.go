package optimizer

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
)

// mostLanes is the most lanes of a strategy that has such a number.
var mostLanes = map[string]int{
	"serial": 1, "roundrobin": 4, "roundrobin(3)": 3, "levels(3)": 3, "nimble(2)": 2, "listsched(2)": 2, "listsched(3)": 3, "listsched": 8,
	"search(100:2)": 2,
}

// What docs/STRATEGIES.md says of waits, lanes and time holds for the plan that comes out of
// all passes, for every strategy, either form of replay, and times that are guessed or given.
func TestFinalPlansKeepTheirPromises(t *testing.T) {
	profile := profiles.All()[0]
	for _, streams := range []bool{false, true} {
		for _, costs := range []CostModel{nil, newDeclaredCosts(profile)} {
			t.Run(fmt.Sprintf("streams=%v/guessed=%v", streams, costs == nil), func(t *testing.T) {
				r := rand.New(rand.NewPCG(91, 91))
				waits := 0
				for round := range densetest.Rounds(7) {
					g := irtest.Random(r, 1+r.IntN(28))
					for _, by := range everyStrategy {
						name := fmt.Sprintf("round %d, %s", round, by)
						opts := Options{Strategy: by, Streams: streams, Costs: costs, Verify: true}
						waits += requirePromises(t, g, opts, name)
					}
				}
				require.Greater(t, waits, densetest.Rounds(240), "hardly anything waits")
			})
		}
	}
}

// The plans that once had waits which nothing needed.
func TestFinalPlansOfReportedGraphs(t *testing.T) {
	for _, file := range []string{"testdata/final/spare_waits.rir", "testdata/final/spare_retargets.rir"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		f, err := ir.Parse(file, string(text))
		require.NoError(t, err)
		for _, streams := range []bool{false, true} {
			for _, by := range everyStrategy {
				for _, also := range [][]string{nil, {"prefetch"}, {"prefetch", "group", "priorities"}} {
					name := fmt.Sprintf("%s, %s, streams %v, also %v", file, by, streams, also)
					requirePromises(t, f.Graph, Options{Strategy: by, Streams: streams, Also: also, Verify: true}, name)
					requirePromises(t, f.Graph, Options{Strategy: by, Streams: streams, Also: also, Verify: true, Costs: newDeclaredCosts(profiles.All()[0])}, name)
				}
			}
		}
	}
}

// requirePromises plans g and returns the number of waits.
func requirePromises(t *testing.T, g *ir.Graph, opts Options, name string) int {
	t.Helper()
	final, err := Plan(g, opts)
	require.NoError(t, err, name)
	s := withoutDelays(final.Schedule)
	requireNeededWaits(t, s, name)

	// syncs itself, on the lanes and the order of the final plan, waits as often or more often.
	again := *s
	require.NoError(t, syncs(&again, &opts))
	require.LessOrEqual(t, s.Syncs(), again.Syncs(), name)

	if lanes, ok := mostLanes[opts.Strategy]; ok {
		require.LessOrEqual(t, s.Lanes, lanes, name)
	}
	if opts.Strategy == "auto" || strings.HasPrefix(opts.Strategy, "search") { // these choose by the plan that comes out of all passes
		return s.Syncs()
	}
	before := unfinished(t, final.Graph, opts)
	require.LessOrEqual(t, s.Lanes, before.Lanes, name)
	require.LessOrEqual(t, s.Predicted, before.Predicted, name)
	if !slices.Contains(opts.Also, "prefetch") {
		require.LessOrEqual(t, s.Syncs(), before.Syncs(), name)
	}
	return s.Syncs()
}

// unfinished is the schedule on the lanes that the strategy chose for the same options, with the waits of syncs and no later
// pass but predict.
func unfinished(t *testing.T, g *ir.Graph, opts Options) *ir.Schedule {
	t.Helper()
	s := &ir.Schedule{Graph: g}
	for _, compute := range []func(*ir.Schedule, *Options) error{assign, syncs, predict} {
		require.NoError(t, compute(s, &opts))
	}
	return s
}

// withoutDelays is s without the waits that it marks as not needed.
func withoutDelays(s *ir.Schedule) *ir.Schedule {
	c := *s
	c.Delays, c.Waits = nil, make([][]ir.OpID, len(s.Waits))
	for v := range c.Waits {
		c.Waits[v] = needed(s, v)
	}
	return &c
}

// requireNeededWaits removes each wait by itself: some dependency must break.
func requireNeededWaits(t *testing.T, s *ir.Schedule, name string) {
	t.Helper()
	for v, waits := range s.Waits {
		for i, u := range waits {
			less := *s
			less.Waits = slices.Clone(s.Waits)
			less.Waits[v] = slices.Delete(slices.Clone(waits), i, i+1)
			require.False(t, keepsDependencies(&less), "%s: %%%d need not wait for %v\n%s", name, v, u, ir.PrintSchedule(s))
		}
	}
}

// keepsDependencies reports whether lanes and waits imply every dependency, by the definition.
func keepsDependencies(s *ir.Schedule) bool {
	after := ordered(s)
	return !slices.ContainsFunc(s.Graph.Deps(), func(d ir.Dep) bool { return !after[d.From][d.To] })
}

// needed returns the waits of an operation that are not delays.
func needed(s *ir.Schedule, v int) []ir.OpID {
	if s.Delays == nil {
		return s.Waits[v]
	}
	return slices.DeleteFunc(slices.Clone(s.Waits[v]), func(u ir.OpID) bool { return slices.Contains(s.Delays[v], u) })
}
