package graphexec_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/plansize"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// relay squares ones through temporaries one after the other, of a mebibyte each.
func relay(t *testing.T, dev device.Device, mode tracer.Mode, temps int) (_ *tracer.Trace, temp, out tracer.Buffer) {
	const n = 1 << 18
	tr := tracer.New(dev, "relay", mode)
	square := (&run{t: t, tr: tr}).kernel("square")
	in := tr.Alloc("in", ir.F32, n, ir.Input)
	tr.Memset(in, float32(1))
	for range temps {
		temp = tr.Alloc("temp", ir.F32, n, ir.Temporary)
		tr.Launch(square, tracer.Linear(64, 256), in, temp, n)
		in = temp
	}
	out = tr.Alloc("out", ir.F32, n, ir.Output)
	tr.Launch(square, tracer.Linear(64, 256), in, out, n)
	trace, err := tr.Finish()
	require.NoError(t, err)
	return trace, temp, out
}

func bytesLive(dev device.Device) int64 { return dev.(device.Accounter).Live().Bytes }

// TestAnArenaReplacesTheMemoryOfTemporaries runs a chain of ten temporaries, which require the memory of two. An arena
// allocates that much while it exists; without an arena, each temporary gets memory of its own.
func TestAnArenaReplacesTheMemoryOfTemporaries(t *testing.T) {
	const mib, temps = 1 << 20, 10
	for _, mode := range []tracer.Mode{tracer.Deferred, tracer.Eager} {
		forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
			dev, err := sim.New(sim.Options{Race: sim.RaceOn})
			require.NoError(t, err)
			trace, temp, out := relay(t, dev, mode, temps)
			require.EqualValues(t, 2*mib, bytesLive(dev), "input and output")

			plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Also: []string{"memplan"}})
			require.NoError(t, err)
			require.Equal(t, plansize.Memory{Before: 12 * mib, After: 4 * mib, Bound: 4 * mib}, plansize.MemoryOf(plan.Schedule))
			x, err := graphexec.Instantiate(dev, plan.Schedule, trace, form)
			require.NoError(t, err)
			require.EqualValues(t, 4*mib, bytesLive(dev))
			for range 2 {
				require.NoError(t, x.Replay(context.Background()))
			}
			require.NoError(t, x.Wait(context.Background()))
			got := make([]float32, out.Len())
			require.NoError(t, tracer.Read(got, out))
			require.EqualValues(t, 1, got[len(got)-1])
			require.ErrorContains(t, tracer.Read(got, temp), "it is temporary and has no memory of its own")
			require.NoError(t, x.Close())
			require.EqualValues(t, 2*mib, bytesLive(dev))

			x = instantiate(t, dev, trace, form)
			require.EqualValues(t, 12*mib, bytesLive(dev))
			require.NoError(t, x.Close())
			require.NoError(t, trace.Close())
			require.Zero(t, bytesLive(dev))
			require.NoError(t, dev.Close())
		})
	}
}

// What an arena cannot hold is refused, and leaves nothing allocated.
func TestArenasThatAreRefused(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	defer dev.Close()
	trace, _, _ := relay(t, dev, tracer.Deferred, 1)
	live := bytesLive(dev)
	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Strategy: "serial"})
	require.NoError(t, err)
	for _, c := range []struct {
		offset []int64
		want   string
	}{
		{[]int64{0, -1, -1}, "instantiate relay as graph: buffer @in lies in the arena, where the program around the replay cannot reach it, and is not temporary: give it its own allocation"},
		{[]int64{-1, 128, -1}, "instantiate relay as graph: buffer @temp has offset 128 in the arena: use a multiple of 256, which kernels may rely on"},
		{[]int64{-1, 1 << 50, -1}, "instantiate relay as graph: an arena of 1125899907891200 bytes: "},
	} {
		plan.Schedule.Offset = c.offset
		_, err := graphexec.Instantiate(dev, plan.Schedule, trace, graphexec.Graph)
		require.ErrorContains(t, err, c.want)
		require.Equal(t, live, bytesLive(dev))
	}
	require.NoError(t, trace.Close())
}

// Host calls keep their functions when operations before them are left out.
func TestHostCallsOfAShortenedTrace(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		dev, err := sim.New(sim.Options{})
		require.NoError(t, err)
		tr := tracer.New(dev, "calls", tracer.Deferred)
		tr.Memset(tr.Alloc("dead", ir.F32, 64, ir.Temporary), float32(0))
		log := tr.AllocHost("log", ir.U8, 1, ir.InOut)
		var called []string
		for _, name := range []string{"first", "second", "third"} {
			tr.HostCall(name, func() error { called = append(called, name); return nil }, tracer.Use{Buffer: log, Mode: ir.ReadWrite})
			tr.Memset(tr.Alloc("dead", ir.F32, 64, ir.Temporary), float32(0))
		}
		trace, err := tr.Finish()
		require.NoError(t, err)
		plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Also: []string{"dce", "memplan"}, Verify: true})
		require.NoError(t, err)
		require.Equal(t, 3, plan.Graph.Len())
		x, err := graphexec.Instantiate(dev, plan.Schedule, trace, form)
		require.NoError(t, err)
		require.EqualValues(t, 1, bytesLive(dev), "the log: what was left out needs no memory")
		require.NoError(t, x.Replay(context.Background()))
		require.NoError(t, x.Wait(context.Background()))
		require.Equal(t, []string{"first", "second", "third"}, called)
		require.NoError(t, x.Close())
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	})
}
