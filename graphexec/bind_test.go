package graphexec_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// exchange traces g = f², and a copy of p to q in pinned memory.
type exchange struct {
	t          *testing.T
	dev        device.Device
	trace      *tracer.Trace
	f, g, p, q tracer.Buffer
}

func newExchange(t *testing.T) *exchange { return newExchangeOn(t, simulated(t)) }

func newExchangeOn(t *testing.T, dev device.Device) *exchange {
	x := &exchange{t: t, dev: dev}
	tr := tracer.New(x.dev, "ping-pong", tracer.Deferred)
	square := (&run{t: t, tr: tr}).kernel("square")
	x.f, x.g = tr.Alloc("f", ir.F32, 4, ir.InOut), tr.Alloc("g", ir.F32, 4, ir.InOut)
	x.p, x.q = tr.AllocHost("p", ir.F32, 4, ir.InOut), tr.AllocHost("q", ir.F32, 4, ir.InOut)
	tr.Launch(square, tracer.Linear(1, 32), x.f, x.g, 4)
	tr.Copy(x.q, x.p)
	var err error
	x.trace, err = tr.Finish()
	require.NoError(t, err)
	return x
}

func (x *exchange) write(b tracer.Buffer, v float32) {
	require.NoError(x.t, tracer.Write(b, []float32{v, v, v, v}))
}

func (x *exchange) holds(b tracer.Buffer, want float32, why string) {
	x.t.Helper()
	got := make([]float32, 4)
	require.NoError(x.t, tracer.Read(got, b), why)
	require.Equal(x.t, []float32{want, want, want, want}, got, why)
	if host := b.HostBytes(); host != nil {
		draft, err := tracer.Draft[float32](b)
		require.NoError(x.t, err)
		require.Equal(x.t, want, draft[0], why)
	}
}

func (x *exchange) replay(exec *graphexec.Exec) {
	require.NoError(x.t, exec.Replay(context.Background()))
	require.NoError(x.t, exec.Wait(context.Background())) // pinned memory is read at once
}

// Reads and writes mean the buffer that a program names, in the memory that replays have it in.
func TestReadsAndWritesFollowSwaps(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		x := newExchange(t)
		exec, err := graphexec.Instantiate(x.dev, planned(t, x.trace.Graph), x.trace, form)
		require.NoError(t, err)
		f, g := x.trace.Pointer(x.f.ID()), x.trace.Pointer(x.g.ID())
		x.write(x.f, 3)
		x.write(x.g, 0)
		x.write(x.p, 5)
		x.write(x.q, 6)
		x.replay(exec)
		require.NoError(t, exec.Apply(graphexec.Swap("f", "g")))
		x.holds(x.f, 9, "the result, which is f now")
		x.holds(x.g, 3, "and what was squared")
		require.Equal(t, []device.Ptr{g, f}, []device.Ptr{x.trace.Pointer(x.f.ID()), x.trace.Pointer(x.g.ID())})
		x.write(x.f, 2)
		x.replay(exec)
		x.holds(x.g, 4, "2 was written to f")
		require.NoError(t, exec.Apply(graphexec.Swap("f", "g"), graphexec.Swap("p", "q")))
		x.holds(x.f, 4, "swapped back")
		x.holds(x.g, 2, "swapped back")
		x.holds(x.p, 5, "pinned memory")
		x.write(x.p, 7)
		x.replay(exec)
		x.holds(x.q, 7, "pinned memory that has changed places")
		require.NoError(t, exec.Apply(graphexec.Swap("f", "g")))
		require.Error(t, exec.Apply(graphexec.Swap("f", "g"), graphexec.Swap("f", "nothing")))
		x.holds(x.f, 16, "nothing of a change that fails is made")
		require.NoError(t, exec.Close())
		x.holds(x.f, 16, "after the end of the replays, too")
		exec, err = graphexec.Instantiate(x.dev, planned(t, x.trace.Graph), x.trace, form)
		require.NoError(t, err)
		x.replay(exec)
		x.holds(x.g, 256, "what is instantiated later has the same buffers")
		require.NoError(t, exec.Close())
		require.NoError(t, x.trace.Close())
		require.Zero(t, x.dev.(device.Accounter).Live().Bytes)
	})
}

// A buffer that is bound to other memory is there for reads and writes, until it is bound to its own again.
func TestReadsAndWritesFollowRebinds(t *testing.T) {
	x := newExchange(t)
	exec, err := graphexec.Instantiate(x.dev, planned(t, x.trace.Graph), x.trace, graphexec.Graph)
	require.NoError(t, err)
	own := x.trace.Pointer(x.g.ID())
	x.write(x.g, 1)
	other, err := x.dev.Alloc(16)
	require.NoError(t, err)
	pinned, _, err := x.dev.AllocHost(16)
	require.NoError(t, err)
	require.NoError(t, exec.Apply(graphexec.Rebind("g", other), graphexec.Rebind("q", pinned)))
	x.write(x.f, 3)
	x.write(x.p, 8)
	x.replay(exec)
	x.holds(x.g, 9, "in other memory")
	x.holds(x.q, 8, "in other pinned memory")
	require.NoError(t, exec.Apply(graphexec.Rebind("g", own)))
	x.holds(x.g, 1, "in its own")
	require.NoError(t, exec.Apply(graphexec.Rebind("g", other)))
	require.NoError(t, x.dev.Free(other))
	require.Error(t, tracer.Read(make([]float32, 4), x.g), "that memory is gone")
}

// Loops change all of their graphs, and their trace once.
func TestReadsFollowSwapsOfLoops(t *testing.T) {
	for _, lowering := range []loop.Lowering{loop.HostChecked, loop.Unrolled, loop.WhileNode} {
		x := newExchange(t)
		loopExec, err := loop.Instantiate(x.dev, loop.Loop{
			Body: planned(t, x.trace.Graph), Until: loop.Until{Buffer: x.g.ID(), Is: ir.Above, Value: 0},
			MaxIterations: 4, CheckEvery: 2, Batch: 1, Lowering: lowering,
		}, x.trace)
		require.NoError(t, err, "%v", lowering)
		x.write(x.f, 3)
		_, err = loopExec.Run(context.Background())
		require.NoError(t, err)
		require.NoError(t, loopExec.Apply(graphexec.Swap("f", "g")))
		x.holds(x.f, 9, lowering.String())
		_, err = loopExec.Run(context.Background())
		require.NoError(t, err)
		x.holds(x.g, 81, lowering.String())
		require.NoError(t, loopExec.Close())
	}
}

// Addresses of another device are no memory of this one, of whatever kind they are.
func TestMemoryOfAnotherDeviceIsRefused(t *testing.T) {
	x, other := newExchange(t), newExchange(t)
	exec, err := graphexec.Instantiate(x.dev, planned(t, x.trace.Graph), x.trace, graphexec.Graph)
	require.NoError(t, err)
	x.write(x.f, 3)
	x.write(x.q, 1)
	foreign := func(b tracer.Buffer) device.Ptr { return other.trace.Pointer(b.ID()) }
	require.ErrorContains(t, exec.Apply(graphexec.Rebind("g", foreign(other.f))), "CUDA_ERROR_INVALID_VALUE")
	require.ErrorContains(t, exec.Apply(graphexec.Rebind("g", foreign(other.g))), "CUDA_ERROR_INVALID_VALUE")
	require.ErrorContains(t, exec.Apply(graphexec.Rebind("q", foreign(other.q))), "CUDA_ERROR_INVALID_VALUE")
	x.replay(exec)
	x.holds(x.g, 9, "nothing has changed")
	require.NoError(t, exec.Close())
}

// Two live replays of one trace may have its buffers in different memory. Reads and writes then have to say which.
func TestReadsOfATraceThatIsBoundTwice(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		x := newExchange(t)
		open := func() *graphexec.Exec {
			exec, err := graphexec.Instantiate(x.dev, planned(t, x.trace.Graph), x.trace, form)
			require.NoError(t, err)
			return exec
		}
		one, two := open(), open()
		at := func(exec *graphexec.Exec, b tracer.Buffer) tracer.Buffer {
			p, err := exec.Pointer(b.Declaration().Name)
			require.NoError(t, err)
			return b.At(p)
		}
		x.write(x.f, 3)
		x.write(x.g, 4)
		require.NoError(t, one.Apply(graphexec.Swap("f", "g"), graphexec.Swap("p", "q")))
		for _, b := range []tracer.Buffer{x.f, x.g, x.p, x.q, x.f.Slice(1, 2)} {
			buf := make([]float32, b.Len())
			var bound *tracer.BindingError
			require.ErrorAs(t, tracer.Read(buf, b), &bound)
			require.Equal(t, b.Declaration().Name, bound.Buffer)
			require.ErrorAs(t, tracer.Write(b, buf), &bound)
			_, err := tracer.Draft[float32](b)
			require.ErrorAs(t, err, &bound)
			require.Nil(t, b.HostBytes())
		}
		x.holds(at(one, x.f), 4, "in one")
		x.holds(at(two, x.f), 3, "in two")
		x.write(at(two, x.f), 5)
		x.write(at(two, x.p), 8)
		x.replay(two)
		x.holds(at(two, x.g), 25, "two squares its f")
		x.holds(at(one, x.p), 8, "pinned memory of one, which is q of two")
		three := open()
		x.holds(at(three, x.f), 25, "what is instantiated later follows the last change")
		require.NoError(t, three.Close())
		require.NoError(t, one.Close())
		x.holds(x.f, 5, "only two is left")
		x.write(x.f, 2)
		x.replay(two)
		x.holds(x.g, 4, "only two is left")
		require.NoError(t, two.Close())
		x.holds(x.g, 4, "and what it has left")
		last := open()
		x.holds(at(last, x.g), 4, "as what is instantiated then has it")
		_, err := last.Pointer("nothing")
		require.ErrorContains(t, err, "no buffer @nothing")
		require.NoError(t, last.Close())
		_, err = last.Pointer("f")
		require.Error(t, err)
		require.NoError(t, x.trace.Close())
	})
}

// A loop counts as one of those that bind a trace, with all of its graphs; that the same is changed in two does not conflict.
func TestALoopAndAnExecThatBindOneTrace(t *testing.T) {
	x := newExchange(t)
	exec, err := graphexec.Instantiate(x.dev, planned(t, x.trace.Graph), x.trace, graphexec.Graph)
	require.NoError(t, err)
	loopExec, err := loop.Instantiate(x.dev, loop.Loop{
		Body: planned(t, x.trace.Graph), Until: loop.Until{Buffer: x.g.ID(), Is: ir.Above, Value: 0},
		MaxIterations: 4, CheckEvery: 2, Batch: 2, Lowering: loop.Unrolled,
	}, x.trace)
	require.NoError(t, err)
	x.write(x.f, 3)
	require.NoError(t, loopExec.Apply(graphexec.Swap("f", "g")))
	var bound *tracer.BindingError
	require.ErrorAs(t, tracer.Read(make([]float32, 4), x.g), &bound)
	p, err := loopExec.Pointer("g")
	require.NoError(t, err)
	x.holds(x.g.At(p), 3, "in the loop")
	require.NoError(t, exec.Apply(graphexec.Swap("f", "g")))
	x.holds(x.g, 3, "both agree")
	require.NoError(t, exec.Apply(graphexec.Swap("f", "g")))
	require.NoError(t, loopExec.Close())
	x.holds(x.f, 3, "only the replay is left")
	require.NoError(t, exec.Close())
}

// A Buffer of At is for reads and writes alone.
func TestAtIsNotForCalls(t *testing.T) {
	tr := tracer.New(simulated(t), "at", tracer.Deferred)
	f, g := tr.Alloc("f", ir.F32, 4, ir.InOut), tr.Alloc("g", ir.F32, 4, ir.InOut)
	tr.Copy(f.At(256), g)
	require.ErrorContains(t, tr.Err(), "was returned by At")
	require.Zero(t, tracer.Buffer{}.At(256))
}

// reused is a device on which other memory has taken an address.
type reused struct {
	*sim.Device
	at    device.Ptr
	times uint64
}

func (d *reused) Freed() uint64 { return d.Device.Freed() + d.times }

func (d *reused) Allocation(p device.Ptr, bytes int64) (device.Allocation, error) {
	a, err := d.Device.Allocation(p, bytes)
	if p == d.at {
		a.Serial += 1000 * d.times
	}
	return a, err
}

// Memory to which a buffer was bound may be freed before the next Exec is made, and its address may be that of other memory by then.
func TestMemoryThatWasFreedIsRefusedWhenItIsInstantiated(t *testing.T) {
	ctx := context.Background()
	for name, test := range map[string]struct{ closeFirst, reuse, ofATrace bool }{
		"closed, then freed": {closeFirst: true}, "freed, then closed": {},
		"closed, then reused": {closeFirst: true, reuse: true}, "reused, then closed": {reuse: true},
		"of a trace that is closed": {closeFirst: true, ofATrace: true},
	} {
		forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
			dev := &reused{Device: simulated(t)}
			x := newExchangeOn(t, dev)
			s := planned(t, x.trace.Graph)
			exec, err := graphexec.Instantiate(x.dev, s, x.trace, form)
			require.NoError(t, err)
			other, err := x.dev.Alloc(16)
			require.NoError(t, err)
			free := func() error { return x.dev.Free(other) }
			if test.ofATrace {
				y := newExchangeOn(t, x.dev)
				other, free = y.trace.Pointer(y.g.ID()), y.trace.Close
			}
			dev.at = other
			require.NoError(t, exec.Apply(graphexec.Rebind("g", other)))
			if test.closeFirst {
				require.NoError(t, exec.Close())
			}
			if test.reuse {
				dev.times++
			} else {
				require.NoError(t, free())
			}
			if !test.closeFirst {
				require.ErrorIs(t, exec.Replay(ctx), device.ErrFreed, name)
				require.ErrorIs(t, exec.Apply(graphexec.Swap("f", "g")), device.ErrFreed, name)
				require.NoError(t, exec.Close())
			}
			_, err = graphexec.Instantiate(x.dev, s, x.trace, form)
			require.ErrorIs(t, err, device.ErrFreed, name)
			require.ErrorContains(t, err, "buffer @g was freed")
			_, err = loop.Instantiate(x.dev, loop.Loop{
				Body: s, Until: loop.Until{Buffer: x.g.ID(), Is: ir.Above, Value: 0}, MaxIterations: 4, Backend: form,
			}, x.trace)
			require.ErrorIs(t, err, device.ErrFreed, name)
			_, err = optimizer.Measure(x.dev, x.trace)
			require.ErrorIs(t, err, device.ErrFreed, name)
			require.ErrorIs(t, tracer.Read(make([]float32, 4), x.g), device.ErrFreed, name)
			require.ErrorIs(t, tracer.Write(x.g, make([]float32, 4)), device.ErrFreed, name)

			x.trace.Bind(x.g.ID(), 0)
			exec, err = graphexec.Instantiate(x.dev, s, x.trace, form)
			require.NoError(t, err)
			x.write(x.f, 3)
			x.replay(exec)
			x.holds(x.g, 9, "in its own memory")
			require.NoError(t, exec.Close())
		})
	}
}
