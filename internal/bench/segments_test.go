package bench

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/segments"
	"github.com/reprise-gpu/reprise/internal/sim"
)

var segmentsTable = flag.Bool("segments", false, "replay all workloads by segments and log their times")

// A workload that is replayed by segments has the right results, and its pieces take about as long as predicted. The
// copies and the kernels of VEC are cut. With -segments, the test logs the table of docs/SEGMENTS.md.
func TestWorkloadsInSegments(t *testing.T) {
	if !*segmentsTable {
		assert.Greater(t, segmented(t, vec, 1<<17, "5us").slices, 4)
		segmented(t, img, 64, "10us")
		return
	}
	for _, w := range Workloads() {
		for _, limit := range []string{"10us", "20us", "50us", "100us"} {
			for _, n := range w.SizesOf(nil) {
				t.Log(segmented(t, w, n, limit))
			}
		}
	}
}

// segmentFigures compares a replay by pieces with one as a whole.
type segmentFigures struct {
	workload            string
	size                int
	limit               string
	pieces, oversize    int
	slices              int
	whole, sum, longest time.Duration // predicted, without launches
	replay, inPieces    time.Duration // measured between events
	worst               float64       // how far a piece takes longer than predicted, relative
}

func (f segmentFigures) String() string {
	return fmt.Sprintf("| %s %d | %s | %d | %d | %d | %.1f | %.1f | %.1f | %.1f | %.1f | %.3f |", f.workload, f.size, f.limit, f.pieces, f.slices, f.oversize,
		micros(f.longest), micros(f.whole), micros(f.sum), micros(f.replay), micros(f.inPieces), f.worst)
}

func segmented(t *testing.T, w *Workload, n int, limit string) segmentFigures {
	ctx := context.Background()
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	in, err := w.New(dev, (&Config{}).Params(n))
	require.NoError(t, err)
	in.Also = []string{"segment(" + limit + ")"}
	require.NoError(t, in.Measure(ctx, dev))
	plan, err := in.Plan(dev, "nimble", graphexec.Graph)
	require.NoError(t, err)
	exec, err := graphexec.Instantiate(dev, plan.Schedule, in.Trace, graphexec.Graph)
	require.NoError(t, err)
	p, err := segments.Of(exec)
	require.NoError(t, err)
	m := meter{t: t, dev: dev}
	m.open()
	units := p.Units()
	f := segmentFigures{workload: w.Name, size: n, limit: limit, pieces: len(units), slices: len(plan.Graph.Sliced), whole: p.Predicted(0, len(units))}
	for range 2 { // the second finds the caches as replays leave them
		require.NoError(t, in.Reset())
		f.replay = m.between(func() error { return p.Submit(m.stream, 0, len(units)) })
	}
	require.NoError(t, in.Reset())
	f.inPieces = m.between(func() error {
		for i := range units {
			if err := p.Submit(m.stream, i, i+1); err != nil {
				return err
			}
		}
		return nil
	})
	diff, err := in.Check()
	require.NoError(t, err, "error %v", diff)
	require.NoError(t, in.Reset())
	for i, u := range units {
		took := m.between(func() error { return p.Submit(m.stream, i, i+1) })
		f.sum, f.longest = f.sum+u.Predicted, max(f.longest, took)
		f.worst = max(f.worst, float64(took-u.Predicted-launchGap)/float64(max(u.Predicted, time.Microsecond)))
		if u.Oversize != "" {
			f.oversize++
		}
	}
	_, err = in.Check()
	require.NoError(t, err)
	assert.Less(t, f.worst, 0.1, "%v", f)
	require.NoError(t, exec.Close())
	m.close()
	require.NoError(t, in.Close())
	require.NoError(t, dev.Close())
	return f
}

// launchGap is the time between events around a graph that does not depend on the graph.
const launchGap = 4 * time.Microsecond

// meter measures work on a stream between two events.
type meter struct {
	t          *testing.T
	dev        device.Device
	stream     device.Stream
	start, end device.Event
}

func (m *meter) open() {
	var err error
	m.stream, err = m.dev.CreateStream(0)
	require.NoError(m.t, err)
	m.start, err = m.dev.CreateEvent()
	require.NoError(m.t, err)
	m.end, err = m.dev.CreateEvent()
	require.NoError(m.t, err)
}

func (m *meter) between(work func() error) time.Duration {
	require.NoError(m.t, m.dev.SynchronizeAll())
	require.NoError(m.t, m.dev.Record(m.start, m.stream))
	require.NoError(m.t, work())
	require.NoError(m.t, m.dev.Record(m.end, m.stream))
	require.NoError(m.t, m.dev.Synchronize(m.stream))
	took, err := m.dev.Elapsed(m.start, m.end)
	require.NoError(m.t, err)
	return took
}

func (m *meter) close() {
	require.NoError(m.t, m.dev.DestroyEvent(m.start))
	require.NoError(m.t, m.dev.DestroyEvent(m.end))
	require.NoError(m.t, m.dev.DestroyStream(m.stream))
}
