package timings_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/signature"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/timings"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// sample is the number of blocks that run of each launch, on devices that sample.
const sample = 2

// open returns an instance of a workload on dev as a source, whose replays run one operation after another.
func open(t *testing.T, dev device.Device, name string, size int) (*bench.Instance, *timings.Source) {
	w, err := bench.LookupWorkload(name)
	require.NoError(t, err)
	config := bench.Config{Seed: 1}
	if d, ok := dev.(*sim.Device); ok {
		config.Sample = d.Sample()
	}
	in, err := w.New(dev, config.Params(size))
	require.NoError(t, err)
	plan, err := optimizer.Plan(in.Trace.Graph, optimizer.Options{Strategy: "serial", Streams: true})
	require.NoError(t, err)
	exec, err := graphexec.Instantiate(dev, plan.Schedule, in.Trace, graphexec.Streams)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, device.Join(exec.Close(), in.Close(), dev.Close())) })
	replay := func(ctx context.Context) error {
		if err := exec.Replay(ctx); err != nil {
			return err
		}
		return exec.Wait(ctx)
	}
	return in, &timings.Source{Name: name, Graph: in.Trace.Graph, Bound: traced.BindingsOf(in.Trace), Reset: in.Reset, Replay: replay}
}

func newSim(t *testing.T, sample int64) *sim.Device {
	dev, err := sim.New(sim.Options{Profile: "h200", Sample: sample})
	require.NoError(t, err)
	return dev
}

// The times of the operations add up to that of a replay of them, one after another, less the host's calls and its wait.
func TestTimesAddUpToThatOfAReplay(t *testing.T) {
	dev := newSim(t, 0)
	in, src := open(t, dev, "img", 64)
	ts := timings.New(timings.Device{ID: "sim:h200"}, time.Now())
	var steps []int
	o := timings.Options{Replays: 3, Progress: func(_ string, done, total int) {
		steps = append(steps, done)
		assert.Equal(t, 7, total)
	}}
	require.NoError(t, ts.Measure(context.Background(), dev, src, o))
	_, err := in.Check()
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2, 3, 4, 5, 6, 7}, steps)

	s := signature.Of(src.Graph)
	p := ts.Program(s)
	var sum time.Duration
	for v := range src.Graph.Ops {
		r := ts.Node(timings.Node{Program: s, Op: ir.OpID(v)})
		require.NotNil(t, r)
		assert.EqualValues(t, 3, r.Time.Count(), "%v", ir.OpID(v))
		assert.Less(t, float64(r.Time.Quantile(1)), 1.02*float64(r.Time.Quantile(0.01)), "%v: virtual time repeats", ir.OpID(v))
		assert.Equal(t, src.Graph.Ops[v].Kind.String(), r.Kind)
		sum += r.Time.Quantile(0.5)
		if l := src.Graph.Ops[v].Launch; l != nil {
			assert.Equal(t, l.Grid.Count(), r.Blocks)
			assert.Positive(t, r.Resident)
		}
	}
	replay := p.Replays.Quantile(0.5)
	assert.Less(t, sum, replay)
	assert.InDelta(t, float64(replay), float64(sum), 6000, "ns; %v in all, a replay takes %v: the host's first call and its wait", sum, replay)
	assert.EqualValues(t, 3, p.Replays.Count())
	assert.EqualValues(t, 2, p.Arrivals.Count())
	gap := ts.Gap(timings.Gap{Program: s})
	assert.EqualValues(t, 2, gap.Count())
	assert.InEpsilon(t, float64(p.Arrivals.Mean()), float64(replay+gap.Mean()), 0.02, "a gap is the time between replays")
}

// What the simulated device counts, with the model's event core, predicts the times that it takes.
func TestTheModelAgreesWithTheDevice(t *testing.T) {
	for _, c := range []struct {
		name string
		size int
	}{{"bs", 10000}, {"ml", 200}} {
		dev := newSim(t, sample)
		in, src := open(t, dev, c.name, c.size)
		m, err := optimizer.Measure(dev, in.Trace)
		require.NoError(t, err)
		ts := timings.New(timings.Device{}, time.Now())
		require.NoError(t, ts.Measure(context.Background(), dev, src, timings.Options{Replays: 1}))
		s := signature.Of(src.Graph)
		counted := &timings.Model{Profile: dev.Profile(), Costs: costmodel.Measured(dev.Profile(), m)}
		for v := range ir.OpID(src.Graph.Len()) {
			r, from := ts.Find(s, src.Graph, v, counted)
			require.Equal(t, timings.FromNode, from)
			if src.Graph.Ops[v].Launch == nil {
				continue
			}
			guess := counted.Record(src.Graph, v)
			assert.InEpsilon(t, float64(r.Time.Mean()), float64(guess.Time.Mean()), 0.1, "%s %v", c.name, v)
			assert.Equal(t, []any{r.Kernel, r.Blocks, r.Resident, r.Bound}, []any{guess.Kernel, guess.Blocks, guess.Resident, guess.Bound}, "%s %v", c.name, v)
		}
	}
}

// uncounted hides that a device counts.
type uncounted struct{ device.Device }

func TestADeviceThatDoesNotCountHasTheModelsBounds(t *testing.T) {
	dev := newSim(t, sample)
	_, src := open(t, dev, "vec", 1<<20)
	for _, m := range []*timings.Model{nil, {Profile: dev.Profile(), Costs: costmodel.Measured(dev.Profile(), nil)}} {
		ts := timings.New(timings.Device{}, time.Now())
		require.NoError(t, ts.Measure(context.Background(), uncounted{dev}, src, timings.Options{Replays: 1, Model: m}))
		for v := range ir.OpID(src.Graph.Len()) {
			r := ts.Node(timings.Node{Program: signature.Of(src.Graph), Op: v})
			if src.Graph.Ops[v].Launch == nil {
				continue
			}
			assert.Equal(t, m != nil, r.Resident > 0)
			assert.Equal(t, m != nil, r.Bound == timings.Memory)
		}
	}
}

func TestWhatCannotBeMeasured(t *testing.T) {
	dev := newSim(t, 0)
	_, src := open(t, dev, "vec", 1024)
	ts := timings.New(timings.Device{}, time.Now())
	ctx, cancel := context.WithCancel(context.Background())
	err := ts.Measure(ctx, dev, src, timings.Options{Replays: 100, Progress: func(_ string, done, _ int) {
		if done == 2 {
			cancel()
		}
	}})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, ts.Program(signature.Of(src.Graph)), "an interrupted measurement leaves nothing")

	file, err := ir.Load("l.rir", `
graph l {
  module m "m.ptx"
  buffer @r f64[1] device(0) inout
  %0 = loop until @r below 1e-08 max(100) {
    %0 = launch m.k grid(4) block(64) args(@r) uses(readwrite @r)
  }
}
`)
	require.NoError(t, err)
	err = ts.Measure(context.Background(), dev, &timings.Source{Name: "l", Graph: file.Graph}, timings.Options{Replays: 1})
	assert.ErrorIs(t, err, timings.ErrControl)
	assert.ErrorContains(t, err, "l: loop is a loop")

	none := null.New()
	_, src = open(t, none, "vec", 1024)
	err = ts.Measure(context.Background(), none, src, timings.Options{Replays: 1})
	assert.ErrorContains(t, err, "work takes no time on the device")
}
