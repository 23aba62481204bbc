package optimizer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
)

// On random graphs folding makes valid schedules that are predicted to take no longer, in
// either form, on no more lanes; and while the times of kernels are only guessed, it orders
// nothing after a kernel that was not before.
func TestFoldingKeepsTheConcurrencyOfKernels(t *testing.T) {
	profile := profiles.All()[0]
	for _, streams := range []bool{false, true} {
		for _, costs := range []CostModel{nil, newDeclaredCosts(profile)} {
			t.Run(fmt.Sprintf("streams=%v/guessed=%v", streams, costs == nil), func(t *testing.T) {
				r := rand.New(rand.NewPCG(21, 21))
				folded := 0
				for round := range 500 {
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
				require.Greater(t, folded, 15, "hardly anything was folded")
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
			plan, err := Plan(g, Options{Strategy: "serial", Streams: streams, Costs: newDeclaredCosts(profiles.All()[0])})
			require.NoError(t, err)
			require.Equal(t, programOrder(g), plan.Schedule.Order, "round %d, streams %v", round, streams)
		}
	}
}

// ordered is the transitive closure of what a schedule becomes.
func ordered(s *ir.Schedule) [][]bool {
	preds := schedules.Predecessors(s)
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

// Other lanes never order anything that the lanes did not, nor have more lanes or waits, and the
// first ones order the same; no schedule has a wait that no dependency requires.
func TestRelaningKeepsWhatRunsBeforeWhat(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 22))
	fewer, looser := 0, 0
	for round := range 1000 {
		g, err := reduce(irtest.Analyze(irtest.Random(r, 1+r.IntN(30))))
		require.NoError(t, err)
		a := assignment{lane: make([]ir.LaneID, g.Len()), order: programOrder(g)}
		for v := range a.lane {
			a.lane[v] = ir.LaneID(r.IntN(5))
		}
		s := &ir.Schedule{Graph: g, Order: a.order}
		s.Lane, s.Lanes = renumbered(a)
		require.NoError(t, syncs(s, &Options{}))
		was := ordered(s)
		for i, c := range relaned(s) {
			require.NoError(t, ir.VerifySchedule(&c), "round %d", round)
			is := ordered(&c)
			if i == 0 {
				require.Equal(t, was, is, "round %d", round)
			}
			for u := range was {
				for v := range was {
					require.True(t, was[u][v] || !is[u][v], "round %d: %%%d is now before %%%d", round, u, v)
				}
			}
			requireNeededWaits(t, &c, fmt.Sprint("round ", round))
			require.LessOrEqual(t, c.Lanes, s.Lanes, "round %d", round)
			require.LessOrEqual(t, c.Syncs(), s.Syncs(), "round %d", round)
			if c.Lanes < s.Lanes || c.Syncs() < s.Syncs() {
				fewer++
			}
			looser += i
		}
	}
	require.Greater(t, fewer, 30, "hardly anything was saved")
	require.Greater(t, looser, 30, "hardly anything was given up")
}

// Streams cost the host a call per operation and a wait per open lane: what is over before the
// next call returns had better be on one lane, and what is not keeps its own.
func TestWhatIsShorterThanItsCallIsOnOneLane(t *testing.T) {
	p := profiles.All()[0]
	plan := func(us int64) *ir.Schedule {
		g := hostCalls(t, nil, slices.Repeat([]int64{us}, 8)...)
		res, err := Plan(g, Options{Streams: true, Costs: newDeclaredCosts(p), Verify: true})
		require.NoError(t, err)
		return res.Schedule
	}
	tiny := plan(1)
	require.Equal(t, 1, tiny.Lanes)
	require.Equal(t, int64((8*p.Host.HostCall+p.SubmitLatency+model.Microsecond)/model.Nanosecond), tiny.Predicted, "the gap is over when the call arrives")
	require.Equal(t, 8, plan(100).Lanes)
}

// A wait for something else keeps all that was ordered, and leaves no wait that others imply.
func TestRetargetsKeepWhatRunsBeforeWhat(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 24))
	tried, fewer := 0, 0
	for round := range 500 {
		g := irtest.Random(r, 1+r.IntN(30))
		res, err := Plan(g, Options{Passes: []string{"hazards", "reduce", "assign", "syncs"}, Strategy: "roundrobin(3)"})
		require.NoError(t, err)
		s := res.Schedule
		f, err := newFoldSearch(s.Graph, &Options{})
		require.NoError(t, err)
		was := ordered(s)
		for _, c := range f.retargets(s) {
			tried++
			if c.Syncs() < s.Syncs() {
				fewer++
			}
			require.NoError(t, ir.VerifySchedule(&c), "round %d", round)
			is := ordered(&c)
			for u := range was {
				for v := range was {
					require.True(t, is[u][v] || !was[u][v], "round %d: %%%d no longer before %%%d", round, u, v)
				}
			}
			for v, waits := range c.Waits {
				for i := range waits {
					less := c
					less.Waits = slices.Clone(c.Waits)
					less.Waits[v] = slices.Delete(slices.Clone(waits), i, i+1)
					require.NotEqual(t, is, ordered(&less), "round %d: %%%d waits for %v in vain", round, v, waits[i])
				}
			}
		}
	}
	require.Greater(t, tried, 1000)
	require.Greater(t, fewer, 100)
}

// The predictions of searches are those of whole replays, whatever was predicted before. A limit that is met is met, and one
// that is a picosecond less is not: kernels that are quicker in company than alone end no prediction early.
func TestSearchesPredictWholeReplays(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 25))
	tried := 0
	for round := range 60 {
		g, err := reduce(irtest.Analyze(irtest.Contended(r, 12+r.IntN(30))))
		require.NoError(t, err)
		opts := &Options{Streams: round%2 == 0, Strategy: "roundrobin(7)"}
		s := unfinished(t, g, *opts)
		f, err := newFoldSearch(g, opts)
		require.NoError(t, err)
		f.outlook(s)
		for _, c := range slices.Concat(f.deals(s), f.foldings(s), f.shifts(s), f.retargets(s)) {
			took, ends := f.replay(&c)
			want := outlook{took: took, waits: c.Syncs()}
			if f.streams {
				want.host = f.streamCalls(&c)
			}
			f.wait(&want, &c, func(v ir.OpID) model.Time { return ends[v] })
			o, ok := f.predict(&c, func(*outlook) model.Time { return took })
			require.True(t, ok, "round %d", round)
			require.Equal(t, want, o, "round %d", round)
			_, ok = f.predict(&c, func(*outlook) model.Time { return took - 1 })
			require.False(t, ok, "round %d", round)
			if tried++; tried%7 == 0 {
				f.outlook(&c)
			}
			if tried%200 == 199 {
				break
			}
		}
	}
	require.Greater(t, tried, 2000)
}
