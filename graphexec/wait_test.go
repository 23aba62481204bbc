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

	giveUp func() // has the context of untilTooLong end soon
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

// untilTooLong calls try with programs of growing launches until one runs longer than a wait that is given up. Programs that
// end before are no evidence: how long a launch takes depends on the machine and on its load. try returns false for them.
// launches and replays are the numbers that try will make, for the length of the first program.
func untilTooLong(t *testing.T, launches, replays int, try func(ctx context.Context, x *spinning) bool) {
	const patience = 10 * time.Millisecond
	turns := uint32(600_000 / (launches * replays))
	for range 6 {
		x := newSpinning(t, launches, turns)
		ctx, cancel := context.WithCancel(context.Background())
		x.giveUp = func() { time.AfterFunc(patience, cancel) }
		done := try(ctx, x)
		cancel()
		x.close()
		if done {
			return
		}
		turns *= 3
	}
	t.Fatal("waits do not return before the program has ended")
}

// gaveUp reports whether a wait returned because its context was done, and not because the program had ended.
func gaveUp(t *testing.T, err error) bool {
	if err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
	return err != nil
}

// TestWaitReturnsWhenItsContextIsDone gives up waits between launches and within one, and finds that nothing is lost.
func TestWaitReturnsWhenItsContextIsDone(t *testing.T) {
	for _, c := range []struct {
		what              string
		launches, replays int
	}{{"many short launches", 10, 30}, {"one long launch", 1, 1}} {
		for _, form := range graphexec.Backends() {
			t.Run(c.what+"/"+form.String(), func(t *testing.T) {
				untilTooLong(t, c.launches, c.replays, func(ctx context.Context, x *spinning) bool {
					exec, err := graphexec.Instantiate(x.dev, x.body, x.trace, form)
					require.NoError(t, err)
					defer func() { require.NoError(t, exec.Close()) }()
					require.NoError(t, exec.ReplayN(ctx, c.replays))
					x.giveUp()
					for range 2 {
						if !gaveUp(t, exec.Wait(ctx)) {
							return false
						}
					}
					require.NoError(t, exec.Set("turns", uint32(1)), "a change while replays are in flight")
					require.NoError(t, exec.Replay(context.Background()))
					require.NoError(t, exec.Wait(context.Background()))
					assert.Equal(t, c.launches*(c.replays+1), x.counted())
					return true
				})
			})
		}
	}
}

// TestCloseAfterAWaitThatWasGivenUp lets the device end what is in flight.
func TestCloseAfterAWaitThatWasGivenUp(t *testing.T) {
	untilTooLong(t, 1, 1, func(ctx context.Context, x *spinning) bool {
		exec, err := graphexec.Instantiate(x.dev, x.body, x.trace, graphexec.Graph)
		require.NoError(t, err)
		require.NoError(t, exec.Replay(ctx))
		x.giveUp()
		done := gaveUp(t, exec.Wait(ctx))
		require.NoError(t, exec.Close())
		assert.Equal(t, 1, x.counted())
		return done
	})
}

// TestALoopReturnsWhenItsContextIsDone suspends runs within an iteration, in every lowering, and has them end.
func TestALoopReturnsWhenItsContextIsDone(t *testing.T) {
	for _, c := range []struct {
		lowering loop.Lowering
		overrun  loop.Overrun
	}{
		{loop.HostChecked, loop.Forbidden}, {loop.Unrolled, loop.Forbidden},
		{loop.Unrolled, loop.Undone}, {loop.WhileNode, loop.Forbidden},
	} {
		t.Run(fmt.Sprintf("%v/overrun(%d)", c.lowering, c.overrun), func(t *testing.T) {
			untilTooLong(t, 1, 1, func(ctx context.Context, x *spinning) bool {
				loopExec, err := loop.Instantiate(x.dev, loop.Loop{
					Body: x.body, Until: loop.Until{Buffer: x.count.ID(), Is: ir.AtLeast, Value: 100},
					MaxIterations: 2, Lowering: c.lowering, Overrun: c.overrun,
				}, x.trace)
				require.NoError(t, err)
				defer func() { require.NoError(t, loopExec.Close()) }()
				x.giveUp()
				if _, err = loopExec.Run(ctx); !gaveUp(t, err) {
					return false
				}
				if _, err = loopExec.Wait(ctx); !gaveUp(t, err) {
					return false
				}
				result, err := loopExec.Wait(context.Background())
				require.NoError(t, err)
				assert.Equal(t, x.counted(), result.Iterations)
				if result.Iterations == 0 { // given up before the first launch
					return false
				}
				assert.Equal(t, result.Iterations, loopExec.Stats().Iterations)
				again, err := loopExec.Wait(context.Background())
				require.NoError(t, err)
				assert.Equal(t, result, again)

				ctx, cancel := context.WithCancel(context.Background())
				time.AfterFunc(time.Millisecond, cancel)
				_, err = loopExec.Run(ctx)
				gaveUp(t, err)
				require.NoError(t, loopExec.Set("turns", uint32(1)), "after a run that was given up")
				_, err = loopExec.Run(context.Background())
				require.NoError(t, err)
				return true
			})
		})
	}
}

// TestALoopClosesAfterARunThatWasGivenUp has Close wait, on a goroutine that is no longer locked to its thread.
func TestALoopClosesAfterARunThatWasGivenUp(t *testing.T) {
	untilTooLong(t, 1, 1, func(ctx context.Context, x *spinning) bool {
		plan, err := optimizer.Plan(x.trace.Graph, optimizer.Options{})
		require.NoError(t, err)
		loopExec, err := loop.Instantiate(x.dev, loop.Loop{
			Body: plan.Schedule, Until: loop.Until{Buffer: x.count.ID(), Is: ir.AtLeast, Value: 100}, MaxIterations: 4, Lowering: loop.HostChecked,
		}, x.trace)
		require.NoError(t, err)
		x.giveUp()
		runtime.LockOSThread()
		_, err = loopExec.Run(ctx)
		runtime.UnlockOSThread()
		done := gaveUp(t, err)
		require.NoError(t, loopExec.Close())
		if done {
			assert.Less(t, x.counted(), 4)
		}
		return done
	})
}
