package graphexec_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// spin counts down from turns in one thread, and then adds 1 to a word.
const spin = `.version 6.5
.target sm_52
.address_size 64
.visible .entry spin(.param .u64 p, .param .u32 turns)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<4>;
	.reg .pred %p0;
	ld.param.u64 %rd0, [p];
	ld.param.u32 %r0, [turns];
L:
	sub.u32 %r0, %r0, 1;
	setp.ne.u32 %p0, %r0, 0;
	@%p0 bra L;
	ld.global.u32 %r1, [%rd0];
	add.u32 %r1, %r1, 1;
	st.global.u32 [%rd0], %r1;
	ret;
}
`

// spinning is a program of launches of spin, each of which takes long on the host.
type spinning struct {
	t     *testing.T
	dev   *sim.Device
	count tracer.Buffer
	trace *tracer.Trace
	body  *ir.Schedule
}

// newSpinning traces launches that each spin for a number of turns.
func newSpinning(t *testing.T, launches int, turns uint32) *spinning {
	dev, err := sim.New(sim.Options{Memo: sim.MemoOff})
	require.NoError(t, err)
	x := &spinning{t: t, dev: dev}
	tr := tracer.New(dev, "spinning", tracer.Deferred)
	k := tr.Module("spin.ptx", spin).Kernel("spin")
	x.count = tr.Alloc("count", ir.U32, 1, ir.InOut)
	for range launches {
		tr.Launch(k, tracer.Linear(1, 1), x.count, tr.Param("turns", ir.U32, turns))
	}
	x.trace, x.body = finished(t, tr)
	require.NoError(t, tracer.Write(x.count, []uint32{0}))
	return x
}

func (x *spinning) counted() int {
	var n [1]uint32
	require.NoError(x.t, tracer.Read(n[:], x.count))
	return int(n[0])
}

func (x *spinning) close() { require.NoError(x.t, device.Join(x.trace.Close(), x.dev.Close())) }

// soon is a context that ends long before a spinning program does, and a check that what waited with it did so, too.
func soon(t *testing.T) (context.Context, func()) {
	const deadline = 50 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	start := time.Now()
	return ctx, func() {
		cancel()
		assert.Less(t, time.Since(start), 20*deadline)
	}
}

// long is the turns of a launch that takes seconds, and short those of one that takes milliseconds.
const (
	long  = 8_000_000 / slowdown
	short = 50_000 / slowdown
)

// TestWaitReturnsAtItsDeadline gives up waits between launches and within one, and finds that nothing is lost.
func TestWaitReturnsAtItsDeadline(t *testing.T) {
	for _, c := range []struct {
		what              string
		launches, replays int
		turns             uint32
	}{{"many short launches", 10, 30, short}, {"one long launch", 1, 1, long}} {
		for _, form := range graphexec.Backends() {
			t.Run(c.what+"/"+form.String(), func(t *testing.T) {
				x := newSpinning(t, c.launches, c.turns)
				exec, err := graphexec.Instantiate(x.dev, x.body, x.trace, form)
				require.NoError(t, err)
				ctx, inTime := soon(t)
				require.NoError(t, exec.ReplayN(ctx, c.replays))
				require.ErrorIs(t, exec.Wait(ctx), context.DeadlineExceeded)
				require.ErrorIs(t, exec.Wait(ctx), context.DeadlineExceeded, "at once")
				inTime()
				require.NoError(t, exec.Set("turns", uint32(1)), "a change while replays are in flight")
				require.NoError(t, exec.Replay(context.Background()))
				require.NoError(t, exec.Wait(context.Background()))
				assert.Equal(t, c.launches*(c.replays+1), x.counted())
				require.NoError(t, exec.Close())
				x.close()
			})
		}
	}
}

// TestCloseAfterAWaitThatWasGivenUp lets the device end what is in flight.
func TestCloseAfterAWaitThatWasGivenUp(t *testing.T) {
	x := newSpinning(t, 1, long/8)
	exec, err := graphexec.Instantiate(x.dev, x.body, x.trace, graphexec.Graph)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(t, exec.Replay(ctx))
	time.AfterFunc(10*time.Millisecond, cancel)
	require.ErrorIs(t, exec.Wait(ctx), context.Canceled)
	require.NoError(t, exec.Close())
	assert.Equal(t, 1, x.counted())
	x.close()
}

// TestALoopReturnsAtItsDeadline suspends runs within an iteration, in every lowering, and has them end.
func TestALoopReturnsAtItsDeadline(t *testing.T) {
	for _, c := range []struct {
		lowering loop.Lowering
		overrun  loop.Overrun
	}{
		{loop.HostChecked, loop.Forbidden}, {loop.Unrolled, loop.Forbidden},
		{loop.Unrolled, loop.Undone}, {loop.WhileNode, loop.Forbidden},
	} {
		t.Run(fmt.Sprintf("%v/overrun(%d)", c.lowering, c.overrun), func(t *testing.T) {
			x := newSpinning(t, 1, long/2)
			loopExec, err := loop.Instantiate(x.dev, loop.Loop{
				Body: x.body, Until: loop.Until{Buffer: x.count.ID(), Is: ir.AtLeast, Value: 100},
				MaxIterations: 2, Lowering: c.lowering, Overrun: c.overrun,
			}, x.trace)
			require.NoError(t, err)
			ctx, inTime := soon(t)
			_, err = loopExec.Run(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			_, err = loopExec.Wait(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			inTime()
			result, err := loopExec.Wait(context.Background())
			require.NoError(t, err)
			assert.Positive(t, result.Iterations)
			assert.Equal(t, x.counted(), result.Iterations)
			assert.Equal(t, result.Iterations, loopExec.Stats().Iterations)
			again, err := loopExec.Wait(context.Background())
			require.NoError(t, err)
			assert.Equal(t, result, again)

			require.NoError(t, loopExec.Set("turns", uint32(long/2)))
			ctx, inTime = soon(t)
			_, err = loopExec.Run(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			inTime()
			require.NoError(t, loopExec.Set("turns", uint32(1)), "after a run that was given up")
			_, err = loopExec.Run(context.Background())
			require.NoError(t, err)
			require.NoError(t, loopExec.Close())
			x.close()
		})
	}
}

// TestALoopClosesAfterARunThatWasGivenUp has Close wait, on a goroutine that is no longer locked to its thread.
func TestALoopClosesAfterARunThatWasGivenUp(t *testing.T) {
	x := newSpinning(t, 1, long/2)
	plan, err := optimizer.Plan(x.trace.Graph, optimizer.Options{})
	require.NoError(t, err)
	loopExec, err := loop.Instantiate(x.dev, loop.Loop{
		Body: plan.Schedule, Until: loop.Until{Buffer: x.count.ID(), Is: ir.AtLeast, Value: 100}, MaxIterations: 4, Lowering: loop.HostChecked,
	}, x.trace)
	require.NoError(t, err)
	ctx, inTime := soon(t)
	runtime.LockOSThread()
	_, err = loopExec.Run(ctx)
	runtime.UnlockOSThread()
	require.ErrorIs(t, err, context.DeadlineExceeded)
	inTime()
	require.NoError(t, loopExec.Close())
	assert.Equal(t, 1, x.counted())
	x.close()
}
