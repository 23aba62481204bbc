package graphexec_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// squares traces two launches over n elements, with a copy of their result, a parameter and a host call when asked to.
func squares(t *testing.T, dev device.Device, name string, n int64, host bool) (*tracer.Trace, tracer.Buffer) {
	tr := tracer.New(dev, name, tracer.Deferred)
	square := (&run{t: t, tr: tr}).kernel("square")
	x := tr.Alloc("x", ir.F32, n, ir.InOut)
	y := tr.Alloc("y", ir.F32, n, ir.Temporary)
	out := tr.AllocHost("out", ir.F32, n, ir.Output)
	tr.Launch(square, tracer.Linear(1, 64), x, y, n)
	tr.Copy(x, y)
	tr.Copy(out, x)
	if host {
		tr.HostCall("look", func() error { return nil }, tracer.Use{Buffer: out, Mode: ir.Read})
	}
	trace, err := tr.Finish()
	require.NoError(t, err)
	t.Cleanup(func() { _ = trace.Close() })
	return trace, x
}

func planned(t *testing.T, g *ir.Graph, also ...string) *ir.Schedule {
	plan, err := optimizer.Plan(g, optimizer.Options{Strategy: "nimble", Also: also})
	require.NoError(t, err)
	return plan.Schedule
}

func simulated(t *testing.T) *sim.Device {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	return dev
}

// reread is a graph as its text has it.
func reread(t *testing.T, g *ir.Graph) *ir.Graph {
	file, err := ir.Parse("again.rir", ir.Print(g))
	require.NoError(t, err)
	return file.Graph
}

// A wrapper of a device of a type that the module does not have.
type wrapper struct{ device.Device }

func TestPlansOfOtherTracesAndDevicesAreRefused(t *testing.T) {
	one, two := simulated(t), simulated(t)
	trace, x := squares(t, one, "one", 64, false)
	twin, _ := squares(t, one, "one", 64, false)
	small, _ := squares(t, one, "one", 8, false)
	other, _ := squares(t, two, "one", 64, false)
	host, _ := squares(t, one, "one", 64, true)
	closed, _ := squares(t, one, "one", 64, false)
	plan, closedPlan := planned(t, trace.Graph), planned(t, closed.Graph)
	require.NoError(t, closed.Close())
	renamed := planned(t, trace.Graph, "unroll(2)", "rename(2)")
	for _, test := range []struct {
		name  string
		dev   device.Device
		plan  *ir.Schedule
		trace *tracer.Trace
		want  error
	}{
		{"another device", two, plan, trace, device.ErrOtherDevice},
		{"another kind of device", null.New(), plan, trace, device.ErrOtherDevice},
		{"a wrapper of another device", wrap.Logging(two, io.Discard), plan, trace, device.ErrOtherDevice},
		{"the same program on another device", one, planned(t, other.Graph), other, device.ErrOtherDevice},
		{"a plan of another device", two, plan, other, ir.ErrOtherTrace},
		{"a plan of another trace with the same program", one, planned(t, twin.Graph), trace, ir.ErrOtherTrace},
		{"a plan of a trace of more elements", one, plan, small, ir.ErrOtherTrace},
		{"a transformed plan of another trace", one, planned(t, twin.Graph, "unroll(2)", "rename(2)", "copyelim"), trace, ir.ErrOtherTrace},
		{"a plan read from text of more elements", one, planned(t, reread(t, trace.Graph)), small, ir.ErrOtherTrace},
		{"a plan read from text with a host call", one, planned(t, reread(t, host.Graph)), trace, ir.ErrOtherTrace},
		{"text of a plan with buffers of a pass", one, planned(t, reread(t, renamed.Graph)), trace, ir.ErrOtherTrace},
		{"a closed trace", one, closedPlan, closed, tracer.ErrClosed},
	} {
		forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
			_, err := graphexec.Instantiate(test.dev, test.plan, test.trace, form)
			require.ErrorIs(t, err, test.want, test.name)
			_, err = loop.Instantiate(test.dev, loop.Loop{
				Body: test.plan, Until: loop.Until{Buffer: x.ID(), Is: ir.Below, Value: .5}, MaxIterations: 1, Backend: form,
			}, test.trace)
			require.ErrorIs(t, err, test.want, test.name)
		})
	}
}

// The schedule of several iterations has to be of the trace of the body, too.
func TestSeveralIterationsOfAnotherTraceAreRefused(t *testing.T) {
	dev := simulated(t)
	trace, x := squares(t, dev, "one", 64, false)
	twin, _ := squares(t, dev, "one", 64, false)
	for _, lowering := range []loop.Lowering{loop.Unrolled, loop.WhileNode} {
		_, err := loop.Instantiate(dev, loop.Loop{
			Body: planned(t, trace.Graph), Until: loop.Until{Buffer: x.ID(), Is: ir.Below, Value: .5},
			MaxIterations: 8, CheckEvery: 2, Batch: 2, Lowering: lowering,
			Several: func(n int) (*ir.Schedule, error) { return planned(t, twin.Graph, "unroll(2)"), nil },
		}, trace)
		require.ErrorIs(t, err, ir.ErrOtherTrace, "%v", lowering)
	}
}

func TestPlansOfATraceFitItThroughWrappersPassesAndText(t *testing.T) {
	base := simulated(t)
	logged := wrap.Logging(base, io.Discard)
	never := func(int, string) device.Code { return 0 }
	for _, on := range []struct {
		name           string
		traced, replay device.Device
	}{
		{"the device", base, base},
		{"traced through a wrapper", logged, base},
		{"replayed through a wrapper", base, logged},
		{"two wrappers", logged, wrap.Faults(base, never)},
		{"a wrapper of a wrapper", base, wrap.Faults(logged, never)},
		{"a wrapper of another type", wrapper{base}, wrapper{logged}},
	} {
		trace, x := squares(t, on.traced, "one", 64, true)
		for _, s := range []*ir.Schedule{
			planned(t, trace.Graph),
			planned(t, trace.Graph, "copyelim"),
			planned(t, trace.Graph, "dce"),
			planned(t, trace.Graph, "coarsen"),
			planned(t, trace.Graph, "memplan"),
			planned(t, trace.Graph, "unroll(3)", "rename(2)", "copyelim", "dce"),
			planned(t, reread(t, trace.Graph)),
			planned(t, reread(t, trace.Graph), "unroll(3)", "rename(2)"),
		} {
			forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
				exec, err := graphexec.Instantiate(on.replay, s, trace, form)
				require.NoError(t, err, on.name)
				require.NoError(t, tracer.Write(x, make([]float32, 64)))
				require.NoError(t, exec.Replay(context.Background()))
				require.NoError(t, exec.Wait(context.Background()))
				require.NoError(t, exec.Close())
			})
		}
	}
}
