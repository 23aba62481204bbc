package bench

import (
	"context"
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

// A workload whose pieces the device runs by itself has the right results, and leaves the device soon after a stop. With
// -segments, the test logs the table of docs/SEGMENTS.md.
func TestStoppedWorkloads(t *testing.T) {
	if !*segmentsTable {
		f := stopped(t, vec, 1<<17, "5us", 10)
		t.Log(f)
		assert.LessOrEqual(t, f.device.worst, f.longest+20*time.Microsecond)
		assert.Greater(t, f.replay[2], f.replay[1])
		return
	}
	for _, w := range Workloads() {
		for _, limit := range []string{"10us", "20us", "50us"} {
			n := w.SizesOf(nil)[0]
			t.Log(stopped(t, w, n, limit, 40))
		}
	}
}

// stopFigures compares replays by the pieces that the device runs with those that the host submits.
type stopFigures struct {
	workload string
	size     int
	limit    string
	pieces   int
	longest  time.Duration
	replay   [3]time.Duration // as one graph, piece by piece by the host in advance, on the device
	device   delays
	host     [2]delays // with one piece in flight, and with two
}

// delays are times from a stop until the device is free.
type delays struct{ sum, mean, worst time.Duration }

func (d *delays) add(t time.Duration) { d.sum, d.worst = d.sum+t, max(d.worst, t) }

func (f stopFigures) String() string {
	s := fmt.Sprintf("| %s %d | %s | %d | %.1f | %.1f | %.1f | %.1f | %.2f |", f.workload, f.size, f.limit, f.pieces, micros(f.longest), micros(f.replay[0]),
		micros(f.replay[1]), micros(f.replay[2]), micros(f.replay[2]-f.replay[1])/float64(f.pieces))
	for _, d := range []delays{f.device, f.host[0], f.host[1]} {
		s += fmt.Sprintf(" %.1f | %.1f |", micros(d.mean), micros(d.worst))
	}
	return s
}

// stopper measures one workload.
type stopper struct {
	meter
	sim    *sim.Device
	in     *Instance
	pieces segments.Program
	runner segments.Runner
}

// stopped stops replays at a number of moments.
func stopped(t *testing.T, w *Workload, n int, limit string, moments int) stopFigures {
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
	s := stopper{meter: meter{t: t, dev: dev}, sim: dev, in: in}
	s.open()
	s.pieces, err = segments.Of(exec)
	require.NoError(t, err)
	s.runner, err = s.pieces.Runner()
	require.NoError(t, err)
	f := stopFigures{workload: w.Name, size: n, limit: limit, pieces: len(s.pieces.Units())}
	for _, u := range s.pieces.Units() {
		f.longest = max(f.longest, u.Predicted)
	}
	for i, replay := range []func() error{s.whole, s.byUnits, func() error { return s.runner.Launch(s.stream, len(s.pieces.Units())) }} {
		for range 2 { // the second finds the caches as replays leave them
			require.NoError(t, in.Reset())
			f.replay[i] = s.between(replay)
		}
		_, err := in.Check()
		require.NoError(t, err, "replay %d", i)
	}
	for i := range moments {
		after := f.replay[0] * time.Duration(2*i+1) / time.Duration(2*moments)
		f.device.add(s.onDevice(after))
		for depth := range f.host {
			f.host[depth].add(s.byHost(after, 1+depth))
		}
	}
	for _, d := range []*delays{&f.device, &f.host[0], &f.host[1]} {
		d.mean = d.sum / time.Duration(moments)
	}
	require.NoError(t, exec.Close())
	s.close()
	require.NoError(t, in.Close())
	require.NoError(t, dev.Close())
	return f
}

func (s *stopper) whole() error { return s.pieces.Submit(s.stream, 0, len(s.pieces.Units())) }

func (s *stopper) byUnits() error {
	for i := range s.pieces.Units() {
		if err := s.pieces.Submit(s.stream, i, i+1); err != nil {
			return err
		}
	}
	return nil
}

// onDevice stops the runner some time after its launch, and returns when the device is free. The rest then runs.
func (s *stopper) onDevice(after time.Duration) time.Duration {
	require.NoError(s.t, s.sim.SynchronizeAll())
	require.NoError(s.t, s.runner.Launch(s.stream, len(s.pieces.Units())))
	require.NoError(s.t, s.sim.Record(s.end, s.stream))
	require.NoError(s.t, s.sim.WaitFirst(s.sim.Now()+after, s.end))
	stop := s.sim.Now()
	require.NoError(s.t, s.runner.Stop())
	free := s.free(s.end) - stop
	if _, unit := s.runner.Progress(); unit > 0 {
		require.NoError(s.t, s.runner.Launch(s.stream, len(s.pieces.Units())-unit))
	}
	require.NoError(s.t, s.sim.SynchronizeAll())
	return free
}

// byHost submits units with some of them in flight, ends that after some time, and returns when the device is free.
func (s *stopper) byHost(after time.Duration, depth int) (free time.Duration) {
	require.NoError(s.t, s.sim.SynchronizeAll())
	n, next := len(s.pieces.Units()), 0
	ends := make([]device.Event, n)
	for i := range ends {
		var err error
		ends[i], err = s.sim.CreateEvent()
		require.NoError(s.t, err)
	}
	submit := func() {
		require.NoError(s.t, s.pieces.Submit(s.stream, next, next+1))
		require.NoError(s.t, s.sim.Record(ends[next], s.stream))
		next++
	}
	until := s.sim.Now() + after
	for next < n && s.sim.Now() < until {
		if submit(); next >= depth {
			require.NoError(s.t, s.sim.WaitFirst(until, ends[next-depth]))
		}
	}
	stop := s.sim.Now()
	free = max(0, s.free(ends[next-1])-stop)
	for next < n {
		submit()
	}
	require.NoError(s.t, s.sim.SynchronizeAll())
	for _, e := range ends {
		require.NoError(s.t, s.sim.DestroyEvent(e))
	}
	return free
}

// free returns the time at which an event has completed.
func (s *stopper) free(e device.Event) time.Duration {
	require.NoError(s.t, s.sim.Synchronize(s.stream))
	at, ok := s.sim.Completed(e)
	require.True(s.t, ok)
	return at
}
