package share_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/share"
	"github.com/reprise-gpu/reprise/sim"
	"github.com/reprise-gpu/reprise/tracer"
)

// kernelsPTX: add adds a number to x[i]; fault writes far outside.
const kernelsPTX = `.version 6.0
.target sm_60
.address_size 64
.visible .entry add(.param .u64 x, .param .u32 a)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd0, [x];
	ld.param.u32 %r0, [a];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r1, %r1, 128, %r2;
	mul.wide.u32 %rd1, %r1, 4;
	add.s64 %rd2, %rd0, %rd1;
	ld.global.u32 %r3, [%rd2];
	add.u32 %r3, %r3, %r0;
	st.global.u32 [%rd2], %r3;
	ret;
}
.visible .entry fault(.param .u64 x, .param .u32 at)
{
	.reg .pred %p;
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd0, [x];
	ld.global.u32 %r0, [%rd0];
	setp.lt.u32 %p, %r0, 100;
	@%p bra done;
	ld.param.u32 %r1, [at];
	cvt.u64.u32 %rd1, %r1;
	st.global.u32 [%rd1], %r0;
done:
	ret;
}
`

const elements = 128 * 8

// adding is a program that adds 1, 2, ... n to a buffer.
type adding struct {
	trace *tracer.Trace
	x     tracer.Buffer
	sum   uint32
}

func newAdding(t *testing.T, dev device.Device, name string, n int) adding {
	t.Helper()
	tr := tracer.New(dev, name, tracer.Deferred)
	k := tr.Module("add.ptx", kernelsPTX).Kernel("add")
	a := adding{x: tr.Alloc("x", ir.U32, elements, ir.InOut)}
	for i := range uint32(n) {
		tr.Launch(k, tracer.Linear(elements/128, 128), a.x, i+1)
		a.sum += i + 1
	}
	var err error
	a.trace, err = tr.Finish()
	require.NoError(t, err)
	require.NoError(t, tracer.Write(a.x, make([]uint32, elements)))
	t.Cleanup(func() { _ = a.trace.Close() }) // fails after a fault
	return a
}

// clear sets the buffer to 0: adding a program runs it.
func (a adding) clear(t *testing.T) {
	t.Helper()
	require.NoError(t, tracer.Write(a.x, make([]uint32, elements)))
}

func (a adding) value(t *testing.T) uint32 {
	t.Helper()
	data := make([]uint32, elements)
	require.NoError(t, tracer.Read(data, a.x))
	for _, v := range data {
		require.Equal(t, data[0], v)
	}
	return data[0]
}

func open(t *testing.T) device.Device {
	t.Helper()
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = dev.Close() })
	return dev
}

func policies() []share.Policy {
	return []share.Policy{share.Fill(share.FillOptions{}), share.Exclusive(), share.Streams(2, false), share.Streams(8, true)}
}

// TestProgramsFromManyGoroutines runs programs of several priorities at the same time.
func TestProgramsFromManyGoroutines(t *testing.T) {
	for _, p := range policies() {
		dev := open(t)
		s, err := share.New(dev, p)
		require.NoError(t, err)
		const replays = 5
		var programs []adding
		var shared []*share.Program
		for i := range 4 {
			a := newAdding(t, dev, fmt.Sprint(i), 3+i)
			q, err := s.Program(fmt.Sprint(i), share.Priority(3*i), a.trace, a.trace)
			require.NoError(t, err)
			a.clear(t)
			programs, shared = append(programs, a), append(shared, q)
		}
		var wait sync.WaitGroup
		for i, q := range shared {
			wait.Go(func() {
				for range replays {
					assert.NoError(t, q.Replay(context.Background()))
					assert.NoError(t, s.Use(func(device.Device) error { return tracer.Read(make([]uint32, elements), programs[i].x) }))
				}
				assert.Equal(t, 2*replays, q.Stats().Stages)
			})
		}
		wait.Wait()
		require.NoError(t, s.Close())
		for _, a := range programs {
			assert.Equal(t, 2*replays*a.sum, a.value(t))
		}
		live := dev.(device.Accounter).Live()
		assert.Zero(t, live.Streams+live.Events+live.Graphs+live.Execs+live.Lists)
	}
}

// TestCancelledStagesLeaveTheDevice cancels stages at random moments. Other programs end theirs.
func TestCancelledStagesLeaveTheDevice(t *testing.T) {
	dev := open(t)
	s, err := share.New(dev, share.Fill(share.FillOptions{}))
	require.NoError(t, err)
	good, bad := newAdding(t, dev, "good", 5), newAdding(t, dev, "bad", 50)
	g, err := s.Program("good", 9, good.trace)
	require.NoError(t, err)
	b, err := s.Program("bad", 0, bad.trace)
	require.NoError(t, err)
	good.clear(t)
	var wait sync.WaitGroup
	wait.Go(func() {
		for range 30 {
			assert.NoError(t, g.Replay(context.Background()))
		}
	})
	cancelled := 0
	for i := range 30 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*100*time.Microsecond)
		if err := b.Replay(ctx); err != nil {
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			cancelled++
		}
		cancel()
	}
	assert.Positive(t, cancelled)
	require.NoError(t, b.Replay(context.Background()), "the program can run again")
	wait.Wait()
	require.NoError(t, s.Close())
	assert.Equal(t, 30*good.sum, good.value(t))
}

// TestClose closes programs and schedulers while stages run.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	dev := open(t)
	s, err := share.New(dev, share.Fill(share.FillOptions{}))
	require.NoError(t, err)
	a, b := newAdding(t, dev, "a", 20), newAdding(t, dev, "b", 5)
	p, err := s.Program("a", 0, a.trace)
	require.NoError(t, err)
	q, err := s.Program("b", 9, b.trace)
	require.NoError(t, err)
	errs := make(chan error)
	run := func(p *share.Program) {
		var err error
		for err == nil {
			err = p.Replay(context.Background())
		}
		errs <- err
	}
	go run(p)
	go run(q)
	time.Sleep(5 * time.Millisecond)
	require.NoError(t, p.Close())
	assert.ErrorIs(t, <-errs, share.ErrClosed)
	require.NoError(t, q.Close())
	assert.ErrorIs(t, <-errs, share.ErrClosed)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err = s.Program("c", 0, a.trace)
	assert.ErrorIs(t, err, share.ErrClosed)
	assert.ErrorIs(t, p.Replay(context.Background()), share.ErrClosed)
	assert.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, time.Second, time.Millisecond)
}

// TestFaultsReachEveryProgram checks that a kernel that faults ends all stages with an error, and that nothing hangs.
func TestFaultsReachEveryProgram(t *testing.T) {
	dev := open(t)
	tr := tracer.New(dev, "faulty", tracer.Deferred)
	k := tr.Module("add.ptx", kernelsPTX).Kernel("fault")
	x := tr.Alloc("x", ir.U32, 1, ir.InOut)
	tr.Launch(k, tracer.Linear(1, 1), x, uint32(64))
	trace, err := tr.Finish()
	require.NoError(t, err)
	require.NoError(t, tracer.Write(x, []uint32{0}))
	a := newAdding(t, dev, "a", 3)
	s, err := share.New(dev, share.Fill(share.FillOptions{}))
	require.NoError(t, err)
	good, err := s.Program("good", 0, a.trace)
	require.NoError(t, err)
	bad, err := s.Program("bad", 9, trace)
	require.NoError(t, err)
	require.NoError(t, bad.Replay(context.Background()))
	require.NoError(t, tracer.Write(x, []uint32{100}))
	err = bad.Replay(context.Background())
	var fault *device.Error
	require.ErrorAs(t, err, &fault)
	assert.Error(t, good.Replay(context.Background()))
	assert.Error(t, s.Close())
	_ = trace.Close()
}

// TestArguments checks the errors of wrong arguments.
func TestArguments(t *testing.T) {
	dev := open(t)
	_, err := share.New(nil, share.Exclusive())
	assert.Error(t, err)
	_, err = share.New(dev, nil)
	assert.Error(t, err)
	s, err := share.New(dev, share.Exclusive())
	require.NoError(t, err)
	a := newAdding(t, dev, "a", 1)
	_, err = s.Program("a", 10, a.trace)
	assert.EqualError(t, err, "share: program a: priority 10 is not in 0..9")
	_, err = s.Program("a", 0)
	assert.EqualError(t, err, "share: program a has no stage: pass its traces")
	_, err = s.Program("a", 0, nil)
	assert.Error(t, err)
	p, err := s.Program("a", 0, a.trace)
	require.NoError(t, err)
	assert.EqualError(t, p.Stage(context.Background(), 1), "share: program a has no stage 1: it has 1")
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	assert.ErrorIs(t, p.Replay(ctx), cause)
	_, _, ok := s.Bound()
	assert.False(t, ok)
	require.NoError(t, s.Close())
}
