package optimizer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
)

// Groups are right, and no replay is predicted to be slower with them.
func TestGroupsAreNoSlower(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 71))
	grouped := 0
	for range 150 {
		g := irtest.Random(r, 1+r.IntN(40))
		for _, strategy := range []string{"serial", "nimble", "listsched(2)"} {
			plain, err := Plan(g, Options{Strategy: strategy, Streams: true})
			require.NoError(t, err)
			res, err := Plan(g, Options{Strategy: strategy, Streams: true, Also: []string{"group"}, Verify: true})
			require.NoError(t, err)
			s := res.Schedule
			require.LessOrEqual(t, s.Predicted, plain.Schedule.Predicted)
			require.Equal(t, plain.Schedule.Waits, s.Waits)
			require.Equal(t, plain.Schedule.Lane, s.Lane)
			if s.Joined != nil {
				grouped++
			}
			asGraph, err := Plan(g, Options{Strategy: strategy, Also: []string{"group"}})
			require.NoError(t, err)
			require.Nil(t, asGraph.Schedule.Joined)
		}
	}
	assert.Greater(t, grouped, 200)
}

// A program on one lane, all of it in one group, is one graph over a stream: the same replay as the
// graph of that program.
func TestAGroupOfAllIsAGraph(t *testing.T) {
	r := rand.New(rand.NewPCG(72, 72))
	for range 100 {
		g := chainy(t, r, 2+r.IntN(30))
		for v := range g.Ops {
			g.Ops[v].Kind, g.Ops[v].Label = ir.KindHost, "f"
		}
		over, err := Plan(g, Options{Strategy: "serial", Streams: true, Also: []string{"group"}})
		require.NoError(t, err)
		require.Equal(t, g.Len()-1, count(over.Schedule.Joined, true))
		as, err := Plan(g, Options{Strategy: "serial"})
		require.NoError(t, err)
		require.Equal(t, as.Schedule.Predicted, over.Schedule.Predicted)
	}
}

// Two groups, counted by hand: the second waits for the first, which is waited for as a whole.
func TestPredictionCountsGroups(t *testing.T) {
	g := hostCalls(t, []edge{{0, 1}, {1, 3}, {2, 3}, {3, 4}}, 10, 10, 10, 10, 10)
	p := idle()
	p.SubmitLatency, p.StreamGap, p.EventGap = 7*model.Microsecond, 2*model.Microsecond, 3*model.Microsecond
	p.GraphRootGap, p.GraphEdgeGap = 5*model.Microsecond, model.Microsecond
	p.Host = model.HostCosts{HostCall: 100 * model.Microsecond, GraphLaunch: 50 * model.Microsecond, GraphNode: 4 * model.Microsecond, EventRecord: 20 * model.Microsecond, EventWait: 30 * model.Microsecond}
	s := &ir.Schedule{
		Graph: g, Strategy: "hand", Lanes: 2,
		Order: []ir.OpID{0, 1, 2, 3, 4}, Lane: []ir.LaneID{0, 0, 1, 1, 1},
		Waits:  [][]ir.OpID{nil, nil, nil, {1}, nil},
		Joined: []bool{false, true, false, false, true},
	}
	require.NoError(t, ir.VerifySchedule(s))
	f := &forecast{profile: p, costs: newDeclaredCosts(p), streams: true}
	last, ends := f.replay(s)
	// 0 and 1 by 58 us, event 78, 2 by 178, wait 208, 3 and 4 by 266
	const us = model.Microsecond
	assert.Equal(t, []model.Time{(58 + 7 + 10) * us, (58 + 7 + 10 + 1 + 10) * us, (178 + 7 + 10) * us}, ends[:3])
	// the wait is over by 208 + 7 us, and what is submitted by 266 + 7 by then finds the lane idle
	assert.Equal(t, []model.Time{(266 + 7 + 10) * us, (266 + 7 + 10 + 1 + 10) * us}, ends[3:])
	assert.Equal(t, ends[4], last)
	assert.Equal(t, []ir.OpID{0, 1, 2, 3, 4}, slices.Concat(slices.Collect(groupsOf(s))...))
}

// groupsOf are copies of the groups, which are good until the next.
func groupsOf(s *ir.Schedule) func(func([]ir.OpID) bool) {
	return func(yield func([]ir.OpID) bool) {
		for group := range schedules.Groups(s) {
			if !yield(slices.Clone(group)) {
				return
			}
		}
	}
}
