package graphexec_test

import (
	"context"
	_ "embed"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

//go:embed testdata/matmul.ptx
var matmul string

const inferBatch, inferHidden = 32, 64

// inference is a program of kernels of one's own: four branches of one to four matrix products, and their sum. Its kernels take
// several times as long as their shapes suggest.
type inference struct {
	trace   *tracer.Trace
	buffers []tracer.Buffer // all but the temporaries
	host    tracer.Buffer
	called  int
}

func infer(t *testing.T, dev device.Device, mode tracer.Mode) *inference {
	x := &inference{}
	tr := tracer.New(dev, "infer", mode)
	m := tr.Module("matmul.ptx", matmul)
	product, add := m.Kernel("matmul"), m.Kernel("add4")
	in := tr.AllocHost("in", ir.F32, inferBatch*inferHidden, ir.Input)
	first := tr.Alloc("x", ir.F32, inferBatch*inferHidden, ir.Temporary)
	out := tr.Alloc("y", ir.F32, inferBatch*inferHidden, ir.InOut)
	x.host = tr.AllocHost("hy", ir.F32, inferBatch*inferHidden, ir.InOut)
	x.buffers = []tracer.Buffer{in, out, x.host}
	var weights []tracer.Buffer
	for i := range 10 {
		w := tr.Alloc(fmt.Sprintf("w%d", i), ir.F32, inferHidden*inferHidden, ir.Constant)
		require.NoError(t, tracer.Write(w, make([]float32, inferHidden*inferHidden)))
		weights = append(weights, w)
	}
	require.NoError(t, tracer.Write(in, make([]float32, inferBatch*inferHidden)))
	tr.Copy(first, in)
	shape := tracer.Shape{Grid: ir.Dim3{X: inferHidden / 16, Y: inferBatch / 16, Z: 1}, Block: ir.Dim3{X: 16, Y: 16, Z: 1}}
	var ends []tracer.Buffer
	for b := range 4 {
		h := first
		for l := range b + 1 {
			o := tr.Alloc(fmt.Sprintf("h%d_%d", b, l), ir.F32, inferBatch*inferHidden, ir.Temporary)
			tr.Launch(product, shape, h, weights[0], o, inferBatch, inferHidden, inferHidden, 1)
			h, weights = o, weights[1:]
		}
		ends = append(ends, h)
	}
	tr.Launch(add, tracer.Linear(inferBatch*inferHidden/256, 256), ends[0], ends[1], ends[2], ends[3], out, inferBatch*inferHidden)
	tr.Copy(x.host, out)
	tr.HostCall("look", func() error { x.called++; return nil }, tracer.Use{Buffer: x.host, Mode: ir.ReadWrite})
	var err error
	x.trace, err = tr.Finish()
	require.NoError(t, err)
	return x
}

// PlanOn measures by itself: over streams, auto is no slower than any other strategy, and serial is slower. The plan says so, and
// is the same every time.
func TestPlansOnADeviceAreMeasured(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	x := infer(t, dev, tracer.Deferred)
	took := map[string]time.Duration{}
	for _, name := range []string{"serial", "nimble", "listsched", "roundrobin", "auto"} {
		opts := optimizer.Options{Strategy: name, Streams: true, Verify: true}
		plan, err := optimizer.PlanOn(dev, x.trace, opts)
		require.NoError(t, err)
		costs := "estimated from bytes and shapes: the strategy does not choose by time"
		if name == "listsched" || name == "auto" {
			costs = "measured on h200"
			m, err := optimizer.Measure(dev, x.trace)
			require.NoError(t, err)
			opts.Measured = m
			again, err := optimizer.Plan(x.trace.Graph, opts)
			require.NoError(t, err)
			require.Equal(t, ir.PrintSchedule(again.Schedule), ir.PrintSchedule(plan.Schedule))
		}
		require.Equal(t, costs, plan.Costs, name)
		exec, err := graphexec.Instantiate(dev, plan.Schedule, x.trace, graphexec.Streams)
		require.NoError(t, err)
		for range 2 {
			start := dev.Now()
			require.NoError(t, exec.Replay(context.Background()))
			require.NoError(t, exec.Wait(context.Background()))
			took[name] = dev.Now() - start
		}
		require.NoError(t, exec.Close())
	}
	for name, other := range took {
		assert.LessOrEqual(t, took["auto"], other, name)
	}
	assert.Less(t, float64(took["auto"]), 0.95*float64(took["serial"]))
	require.NoError(t, x.trace.Close())
}

// A program without its inputs, or a device that does not count, is planned by estimates, and the plan says why.
func TestPlansThatCannotBeMeasuredSayWhy(t *testing.T) {
	for _, c := range []struct {
		open  func() (device.Device, error)
		costs string
	}{
		{func() (device.Device, error) { return sim.New(sim.Options{Race: sim.RaceOn}) }, "estimated from bytes and shapes: @x has not been written yet"},
		{func() (device.Device, error) { return null.New(), nil }, "estimated from bytes and shapes: the device does not count the demands of launches"},
	} {
		dev, err := c.open()
		require.NoError(t, err)
		tr := tracer.New(dev, "unwritten", tracer.Deferred)
		x, y := tr.Alloc("x", ir.F32, 64, ir.InOut), tr.Alloc("y", ir.F32, 64, ir.Output)
		tr.Copy(y, x)
		trace, err := tr.Finish()
		require.NoError(t, err)
		plan, err := optimizer.PlanOn(dev, trace, optimizer.Options{Strategy: "auto"})
		require.NoError(t, err)
		require.Equal(t, c.costs, plan.Costs)
		if dev.Info().Simulated {
			require.NoError(t, tracer.Write(x, make([]float32, 64)))
			plan, err = optimizer.PlanOn(dev, trace, optimizer.Options{Strategy: "auto"})
			require.NoError(t, err)
			require.Equal(t, "measured on h200", plan.Costs)
		}
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	}
}

// What a program has in memory is the same before and after it is measured, on the device and on the host, written or not; and
// host functions are not called. A device that looks for reads of what nothing wrote finds none.
func TestMeasureLeavesMemory(t *testing.T) {
	for _, mode := range []tracer.Mode{tracer.Deferred, tracer.Eager} {
		dev, err := sim.New(sim.Options{Race: sim.RaceOn})
		require.NoError(t, err)
		x := infer(t, dev, mode)
		x.called = 0
		for round := range 2 {
			if round == 1 { // before, nothing has written the outputs
				for i, b := range x.buffers {
					data := make([]float32, b.Len())
					for j := range data {
						data[j] = float32(100*i + j)
					}
					require.NoError(t, tracer.Write(b, data))
				}
			}
			live := dev.Live()
			var was [][]float32
			if round == 1 {
				was = contents(t, x)
			}
			_, err := optimizer.Measure(dev, x.trace)
			require.NoError(t, err)
			assert.Equal(t, live, dev.Live())
			assert.Zero(t, x.called)
			if round == 1 {
				assert.Equal(t, was, contents(t, x))
			}
		}
		require.NoError(t, x.trace.Close())
		require.NoError(t, dev.Close())
	}
}

// contents is what all buffers hold.
func contents(t *testing.T, x *inference) (all [][]float32) {
	for _, b := range x.buffers {
		data := make([]float32, b.Len())
		require.NoError(t, tracer.Read(data, b))
		all = append(all, data)
	}
	return all
}

// Where nothing is counted, a plan goes without.
func TestMeasureOnDevicesThatDoNotCount(t *testing.T) {
	dev := null.New()
	x := infer(t, dev, tracer.Deferred)
	_, err := optimizer.Measure(dev, x.trace)
	require.ErrorIs(t, err, optimizer.ErrUncounted)
	require.NoError(t, x.trace.Close())
	counts, err := sim.New(sim.Options{})
	require.NoError(t, err)
	_, err = optimizer.Measure(counts, x.trace)
	require.ErrorIs(t, err, tracer.ErrClosed)
	require.NoError(t, counts.Close())
	require.NoError(t, dev.Close())
}

// TestMeasuringOnAnotherDeviceIsRefused has a trace with launches and one without.
func TestMeasuringOnAnotherDeviceIsRefused(t *testing.T) {
	here, err := sim.New(sim.Options{})
	require.NoError(t, err)
	there, err := sim.New(sim.Options{Profile: "v100"})
	require.NoError(t, err)
	tr := tracer.New(here, "copy", tracer.Deferred)
	a, b := tr.Alloc("a", ir.F32, 64, ir.InOut), tr.Alloc("b", ir.F32, 64, ir.InOut)
	tr.Copy(b, a)
	trace, err := tr.Finish()
	require.NoError(t, err)
	require.NoError(t, tracer.Write(a, make([]float32, 64)))
	_, err = optimizer.Measure(here, trace)
	require.NoError(t, err)
	_, err = optimizer.Measure(there, trace)
	require.ErrorIs(t, err, device.ErrOtherDevice)
	_, err = optimizer.PlanOn(there, trace, optimizer.Options{Strategy: "auto"})
	require.ErrorIs(t, err, device.ErrOtherDevice)
	require.NoError(t, trace.Close())
	require.ErrorIs(t, tracer.Read(make([]float32, 64), a), tracer.ErrClosed)
	require.NoError(t, device.Join(here.Close(), there.Close()))
}
