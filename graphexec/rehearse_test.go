package graphexec_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// A measurement runs the program where replays have its buffers, and leaves there what it has found. Reads of what was never
// written, and races, would be findings.
func TestMeasureFollowsBindings(t *testing.T) {
	for name, change := range map[string]func(x *exchange, exec *graphexec.Exec){
		"swap": func(x *exchange, exec *graphexec.Exec) { require.NoError(t, exec.Apply(graphexec.Swap("f", "g"))) },
		"rebind": func(x *exchange, exec *graphexec.Exec) {
			in, err := x.dev.Alloc(16)
			require.NoError(t, err)
			out, err := x.dev.Alloc(16)
			require.NoError(t, err)
			pinned, _, err := x.dev.AllocHost(16)
			require.NoError(t, err)
			require.NoError(t, exec.Apply(graphexec.Rebind("f", in), graphexec.Rebind("g", out), graphexec.Rebind("p", pinned)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dev, err := sim.New(sim.Options{Race: sim.RaceOn})
			require.NoError(t, err)
			x := newExchangeOn(t, dev)
			exec, err := graphexec.Instantiate(x.dev, planned(t, x.trace.Graph), x.trace, graphexec.Graph)
			require.NoError(t, err)
			change(x, exec)
			x.write(x.f, 3)
			x.write(x.g, 1)
			x.write(x.p, 5)
			x.write(x.q, 2)
			_, err = optimizer.Measure(x.dev, x.trace)
			require.NoError(t, err)
			require.Empty(t, dev.Findings())
			x.holds(x.f, 3, "an input")
			x.holds(x.g, 1, "an output, put back")
			x.holds(x.q, 2, "a pinned output, put back")
			x.replay(exec)
			x.holds(x.g, 9, "the replay is in the same memory")
			x.holds(x.q, 5, "the replay is in the same memory")
			require.NoError(t, exec.Close())
			require.NoError(t, x.trace.Close())
		})
	}
}

// A temporary without memory that Bind puts somewhere is there in a rehearsal, too, and afterwards.
func TestMeasureFollowsABoundTemporary(t *testing.T) {
	dev, err := sim.New(sim.Options{Race: sim.RaceOn})
	require.NoError(t, err)
	tr := tracer.New(dev, "bound", tracer.Deferred)
	square := (&run{t: t, tr: tr}).kernel("square")
	a, b := tr.Alloc("a", ir.F32, 4, ir.Temporary), tr.Alloc("b", ir.F32, 4, ir.InOut)
	tr.Launch(square, tracer.Linear(1, 32), b, a, 4)
	tr.Launch(square, tracer.Linear(1, 32), a, b, 4)
	trace, err := tr.Finish()
	require.NoError(t, err)
	at, err := dev.Alloc(16)
	require.NoError(t, err)
	trace.Bind(a.ID(), at)
	require.NoError(t, tracer.Write(b, []float32{2, 2, 2, 2}))
	exec, err := graphexec.Instantiate(dev, planned(t, trace.Graph), trace, graphexec.Graph)
	require.NoError(t, err)
	require.NoError(t, exec.Replay(context.Background()))
	live := dev.Live()
	_, err = optimizer.Measure(dev, trace)
	require.NoError(t, err)
	require.Equal(t, live, dev.Live())
	require.Equal(t, at, trace.Pointer(a.ID()))
	got := make([]float32, 4)
	require.NoError(t, tracer.Read(got, a))
	require.Equal(t, float32(4), got[0], "what the replay has left")
	require.NoError(t, exec.Replay(context.Background()))
	require.NoError(t, tracer.Read(got, b))
	require.Equal(t, float32(16*16*16*16), got[0])
	require.Empty(t, dev.Findings())
	require.NoError(t, exec.Close())
}
