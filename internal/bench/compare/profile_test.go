package compare

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/overlap"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// TestBoundIsTheLongestPath computes the bound of two chains that meet, with these times:
//
//	copy 5 ─ kernel 1 ─┐
//	                   ├─ kernel 2
//	copy 3 ─ kernel 4 ─┘
func TestBoundIsTheLongestPath(t *testing.T) {
	file, err := ir.Parse("bound.rir", `
graph bound {
  module m "m.ptx"
  buffer @h f32[64] pinned input
  buffer @a f32[64] device(0) temporary
  buffer @b f32[64] device(0) temporary
  %0 = copy @h[0:256] -> @a[0:256]
  %1 = launch m.k grid(1) block(32) args(@a) uses(readwrite @a)
  %2 = copy @h[0:256] -> @b[0:256]
  %3 = launch m.k grid(1) block(32) args(@b) uses(readwrite @b)
  %4 = launch m.join grid(1) block(32) args(@a, @b) uses(readwrite @a, read @b)
}`)
	require.NoError(t, err)
	plan, err := optimizer.Plan(file.Graph, optimizer.Options{Strategy: "serial"})
	require.NoError(t, err)
	took := []int64{5000, 1000, 3000, 4000, 2000} // by operation
	ran := func(order []ir.OpID) (ran []work) {
		at := int64(100)
		for _, op := range order {
			ran = append(ran, work{kernel, overlap.Span{Begin: at, End: at + took[op]}})
			at += took[op] + 500 // gaps do not count
		}
		return ran
	}
	s := *plan.Schedule
	for _, s.Order = range [][]ir.OpID{{0, 1, 2, 3, 4}, {2, 3, 0, 1, 4}} {
		all := ran(s.Order)
		assert.Equal(t, 3.+4+2, bound(plan.Analyzed, &s, all), "in the order %v", s.Order)
		assert.Panics(t, func() { bound(plan.Analyzed, &s, all[1:]) })
		assert.Panics(t, func() { bound(plan.Analyzed, &s, append(all, work{})) })
	}
}

// TestBoundIsOfTheProgramsOrder expects a bound that does not depend on the compared back ends. The graph back end
// moves prefetches before the graph, but the bound follows the order of the program.
func TestBoundIsOfTheProgramsOrder(t *testing.T) {
	dl, err := bench.LookupWorkload("dl")
	require.NoError(t, err)
	var bounds []float64
	for _, backends := range [][]graphexec.Backend{{graphexec.Graph}, {graphexec.Streams}, {graphexec.Streams, graphexec.Graph}} {
		c := config(t, "well")
		c.Backends = backends
		dev, err := c.Open()
		require.NoError(t, err)
		defer dev.Close()
		in, err := dl.New(dev, bench.Params{Size: dl.Tiny, Memory: bench.Prefetch})
		require.NoError(t, err)
		defer in.Close()
		found, err := c.profile(context.Background(), dev, in)
		require.NoError(t, err)
		bounds = append(bounds, found.bound)
	}
	assert.InEpsilonSlice(t, bounds[1:2], bounds[:1], 0.01) // but for what is in the caches
	assert.InEpsilonSlice(t, bounds[1:2], bounds[2:], 0.01)
}

// hidden wraps a simulated device, so that it is treated like a GPU.
type hidden struct{ device.Device }

// TestEventsTellWhatATimeLineTells profiles each workload's streams by events and by the time line. In a
// serial replay they differ by the time of recording the events.
func TestEventsTellWhatATimeLineTells(t *testing.T) {
	ctx := context.Background()
	for _, w := range bench.Workloads() {
		t.Run(w.Name, func(t *testing.T) {
			dev, err := sim.New(sim.Options{})
			require.NoError(t, err)
			defer dev.Close()
			in, err := w.New(dev, bench.Params{Size: w.Tiny})
			require.NoError(t, err)
			defer in.Close()
			for _, strategy := range []string{"serial", "nimble"} {
				plan, err := optimizer.Plan(in.Trace.Graph, optimizer.Options{Strategy: strategy})
				require.NoError(t, err)
				line, err := look(ctx, dev, in, plan.Schedule, graphexec.Streams)
				require.NoError(t, err)
				before := dev.Live()
				events, err := look(ctx, hidden{dev}, in, plan.Schedule, graphexec.Streams)
				require.NoError(t, err)
				assert.Equal(t, before, dev.Live(), "the events are gone")
				require.Len(t, events, len(line))
				for i := range line {
					assert.Equal(t, line[i].kind, events[i].kind, "operation %d", i)
					if strategy == "serial" {
						took := func(w work) int64 { return w.at.End - w.at.Begin }
						const slack = 4000 // ns: two gaps along the stream, and two markers
						assert.GreaterOrEqual(t, took(events[i]), took(line[i]), "operation %d", i)
						assert.LessOrEqual(t, took(events[i]), took(line[i])+slack, "operation %d", i)
					}
				}
			}
			_, err = in.Check()
			assert.NoError(t, err, "the profiled replays have correct results")
		})
	}
}

// TestTransfersQueueAtTheirEngine checks the correction for copies that wait for their engine: by events they seem to
// start when their dependencies have ended.
func TestTransfersQueueAtTheirEngine(t *testing.T) {
	w := &stopwatch{last: &timed{laps: []lap{{kind: transfer, engine: 1}, {kind: kernel}, {kind: transfer, engine: 1}, {kind: transfer, engine: 2}}}}
	ran := []work{
		{transfer, overlap.Span{Begin: 0, End: 20}},
		{kernel, overlap.Span{Begin: 0, End: 30}},
		{transfer, overlap.Span{Begin: 0, End: 10}},
		{transfer, overlap.Span{Begin: 0, End: 15}},
	}
	w.queue(ran)
	assert.Equal(t, overlap.Span{Begin: 10, End: 20}, ran[0].at)
	assert.Equal(t, overlap.Span{Begin: 0, End: 30}, ran[1].at)
	assert.Equal(t, overlap.Span{Begin: 0, End: 10}, ran[2].at)
	assert.Equal(t, overlap.Span{Begin: 0, End: 15}, ran[3].at)
}
