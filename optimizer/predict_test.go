package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
)

// idle is a device on which nothing costs anything but the work itself.
func idle() *model.Profile {
	return &model.Profile{
		ID: "idle", SMs: 1, ClockMHz: 1000, MemoryBytes: 1, MemoryGBps: 1, SMGBps: 1, LinkGBps: 1, MaxKernels: 1,
		Limits: model.Limits{Schedulers: 4, ThreadsPerSM: 1, ThreadsPerBlock: 1, BlocksPerSM: 1, RegistersPerSM: 1, RegistersPerWarp: 1},
	}
}

// criticalPath is the longest sum of declared costs along a path, in ns.
func criticalPath(g *ir.Graph) int64 {
	end := make([]int64, g.Len())
	longest := int64(0)
	for v := range g.Ops {
		for _, d := range g.DepsInto(ir.OpID(v)) {
			end[v] = max(end[v], end[d.From])
		}
		end[v] += g.Ops[v].Cost
		longest = max(longest, end[v])
	}
	return longest
}

// Declared costs share nothing, so on a device without overheads the concurrent
// schedule takes the critical path, the serial one the sum.
func TestPredictionOfDeclaredCosts(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	for range 80 {
		n := 1 + r.IntN(50)
		g := graphOf(t, "random", n, densetest.RandomEdges(r, n, r.IntN(3*n), n))
		sum := int64(0)
		for v := range g.Ops {
			g.Ops[v].Cost = int64(r.IntN(10_000))
			sum += g.Ops[v].Cost
		}
		predicted := map[string]int64{}
		for _, s := range Strategies() {
			res, err := Plan(g, Options{Strategy: s.Name, Custom: idle()})
			require.NoError(t, err)
			require.Equal(t, "idle", res.Schedule.Profile)
			require.GreaterOrEqual(t, res.Schedule.Predicted, criticalPath(g))
			require.LessOrEqual(t, res.Schedule.Predicted, sum)
			predicted[s.Name] = res.Schedule.Predicted
		}
		require.Equal(t, sum, predicted["serial"])
		require.Equal(t, criticalPath(g), predicted["nimble"])
	}
}

// A diamond of four 10 us operations, counted by hand. Serial: one chain of three
// edges. Nimble: neither arm continues a chain, since they share the root, and
// neither does the last, which joins them; the longest path has two edges.
func TestPredictionCountsLaunchAndEdges(t *testing.T) {
	g := graphOf(t, "diamond", 4, []edge{{0, 1}, {0, 2}, {1, 3}, {2, 3}})
	for v := range g.Ops {
		g.Ops[v].Cost = 10_000
	}
	p, err := profiles.Lookup("h200")
	require.NoError(t, err)
	h := p.Host
	start := h.GraphLaunch + 4*h.GraphNode + p.SubmitLatency

	serial := plan(t, g, "serial").Schedule
	want := start + 3*p.GraphEdgeGap + 40*model.Microsecond
	assert.Equal(t, int64(want/model.Nanosecond), serial.Predicted)

	nimble := plan(t, g, "nimble").Schedule
	want = start + 3*h.GraphBranch + 2*p.GraphEdgeGap + 30*model.Microsecond
	assert.Equal(t, int64(want/model.Nanosecond), nimble.Predicted)
	assert.Equal(t, "h200", nimble.Profile)
}

// The diamond over two streams, counted by hand. The host takes so long for its calls that
// the device is idle when the last one is submitted, which starts a gap after the wait for
// the event before it has been.
func TestPredictionCountsCallsForStreams(t *testing.T) {
	g := hostCalls(t, []edge{{0, 1}, {0, 2}, {1, 3}, {2, 3}}, 10, 0, 10, 10)
	p := idle()
	p.SubmitLatency, p.StreamGap, p.EventGap = 7*model.Microsecond, 2*model.Microsecond, 3*model.Microsecond
	p.Host = model.HostCosts{HostCall: model.Microsecond, EventRecord: 20 * model.Microsecond, EventWait: 300 * model.Microsecond, Synchronize: model.Second}
	res, err := Plan(g, Options{Streams: true, Custom: p, Passes: []string{"hazards", "assign", "syncs", "predict"}})
	require.NoError(t, err)
	s := res.Schedule
	require.Equal(t, [][]ir.OpID{nil, nil, {0}, {2}}, s.Waits)
	// 0 by 1 us, event 21, 1 by 22, wait 322, 2 by 323, event 343, wait 643, 3 by 644
	const last = 643 + 7 + 2 + 10
	assert.Equal(t, int64(last*model.Microsecond/model.Nanosecond), s.Predicted)
}
