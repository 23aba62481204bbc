package optimizer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
)

// hostCalls is a graph of host calls, which have declared costs here and cost the host a
// call each.
func hostCalls(t *testing.T, edges []edge, micros ...int64) *ir.Graph {
	g := graphOf(t, "calls", len(micros), edges)
	for v, us := range micros {
		g.Ops[v].Kind, g.Ops[v].Label, g.Ops[v].Cost = ir.KindHost, "f", 1000*us
	}
	return g
}

// The long chain, 2 4, is enqueued before the two short ones that come first in the
// program, so that it starts two calls earlier. The host then waits for it first, and for
// the short ones, which have ended, after that.
func TestTheLongestPathIsEnqueuedFirst(t *testing.T) {
	g := hostCalls(t, []edge{{2, 3}}, 5, 5, 100, 100)
	p, err := profiles.Lookup("h200")
	require.NoError(t, err)
	took := func(passes ...string) int64 {
		res, err := Plan(g, Options{Streams: true, Verify: true, Passes: append(passes, "assign", "hazards", "syncs", "predict")})
		require.NoError(t, err)
		if slices.Contains(passes, "order") {
			assert.Equal(t, []ir.OpID{2, 3, 0, 1}, res.Schedule.Order)
		}
		return res.Schedule.Predicted
	}
	chain := p.SubmitLatency + p.StreamGap + 200*model.Microsecond
	assert.Equal(t, int64((3*p.Host.HostCall+chain)/model.Nanosecond), took())
	assert.Equal(t, int64((p.Host.HostCall+chain+2*p.Host.Synchronize)/model.Nanosecond), took("order"))
}

// On random graphs the new order allows the same lanes and waits, and is predicted to
// take no longer. A graph is left alone.
func TestOrderKeepsLanesAndWaits(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 23))
	sooner := 0
	for round := range 400 {
		g := irtest.Random(r, 1+r.IntN(40))
		for _, streams := range []bool{false, true} {
			opts := Options{Streams: streams, Passes: []string{"hazards", "reduce", "assign", "syncs", "predict"}}
			before, err := Plan(g, opts)
			require.NoError(t, err)
			opts.Passes, opts.Verify = append(opts.Passes, "order"), true
			after, err := Plan(g, opts)
			require.NoError(t, err)
			was, is := before.Schedule, after.Schedule
			require.Equal(t, ordered(was), ordered(is), "round %d", round)
			require.Equal(t, was.Waits, is.Waits, "round %d", round)
			require.LessOrEqual(t, is.Predicted, was.Predicted, "round %d", round)
			if !streams {
				require.Equal(t, was, is, "round %d", round)
			} else if is.Predicted < was.Predicted {
				sooner++
			}
		}
	}
	require.Greater(t, sooner, 30, "order hardly ever mattered")
}

// counted counts its calls for demands. A simulation makes one call per operation.
type counted struct {
	CostModel
	demands *int
}

func (c counted) Demand(g *ir.Graph, v ir.OpID) model.Demand {
	*c.demands++
	return c.CostModel.Demand(g, v)
}

// clears are fills that nothing holds back, each of memory of its own.
func clears(t *testing.T, n int) *ir.Graph {
	g := graphOf(t, "clears", n, nil)
	for v := range g.Ops {
		g.Buffers = append(g.Buffers, ir.Buffer{Name: fmt.Sprint("b", v), Elem: ir.U8, Len: 1 << 20, Place: ir.Place{Kind: ir.OnDevice}})
		dst := ir.Range{Buffer: ir.BufferID(v), Hi: 1 << 20}
		g.Ops[v] = ir.Op{Kind: ir.KindMemset, Memset: &ir.Memset{Dst: dst}, Cost: -1}
	}
	return g
}

// The time to plan is bounded however many places there are for transfers: here every
// clear may be anywhere. Beside what is tried, the passes simulate what they start from.
func TestTheSearchIsBounded(t *testing.T) {
	g := clears(t, maxFolded)
	for _, streams := range []bool{false, true} {
		demands := 0
		costs := counted{newDeclaredCosts(profiles.All()[0]), &demands}
		_, err := Plan(g, Options{Streams: streams, Costs: costs})
		require.NoError(t, err)
		require.Less(t, demands, 3*maxTried+50*maxFolded, "streams=%v", streams)
	}
}

// The searches of all plans that auto tries are bounded together. The last that they may begin
// goes on to its own end, and the plan that is chosen is made once more.
func TestTheSearchesOfAutoAreBounded(t *testing.T) {
	g := clears(t, maxFolded/2)
	demands := 0
	costs := counted{newDeclaredCosts(profiles.All()[0]), &demands}
	_, err := Plan(g, Options{Strategy: "auto", Costs: costs})
	require.NoError(t, err)
	require.Less(t, demands, maxChosen+2*3*maxTried+100*maxFolded)
}
