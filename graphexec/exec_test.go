package graphexec_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// bound binds a graph read from text: real allocations on dev, modules without
// source, host functions that do nothing.
type bound struct {
	buffers []device.Ptr
	modules []device.Module
}

func bind(t testing.TB, dev device.Device, g *ir.Graph) *bound {
	b := &bound{}
	for _, m := range g.Modules {
		handle, err := dev.LoadModule(m.File, "")
		require.NoError(t, err)
		b.modules = append(b.modules, handle)
	}
	for i := range g.Buffers {
		alloc := dev.Alloc
		if g.Buffers[i].Place.Kind == ir.Managed {
			alloc = func(n int64) (device.Ptr, error) {
				p, _, err := dev.(device.Manager).AllocManaged(n)
				return p, err
			}
		}
		p, err := alloc(g.Buffers[i].Size())
		require.NoError(t, err)
		b.buffers = append(b.buffers, p)
	}
	return b
}

func (b *bound) Check(device.Device, *ir.Graph) error { return nil }

func (b *bound) Allocate(ir.BufferID) error          { return nil }
func (b *bound) Pointer(id ir.BufferID) device.Ptr   { return b.buffers[id] }
func (b *bound) Bind(id ir.BufferID, at device.Ptr)  {} // it remembers where buffers began
func (b *bound) Module(id ir.ModuleID) device.Module { return b.modules[id] }
func (b *bound) HostFunc(ir.OpID) func() error       { return func() error { return nil } }

func plan(t testing.TB, text, strategy string, also ...string) *ir.Schedule {
	file, err := ir.Parse("test.rir", text)
	require.NoError(t, err)
	result, err := optimizer.Plan(file.Graph, optimizer.Options{Strategy: strategy, Also: also})
	require.NoError(t, err)
	return result.Schedule
}

// TestCalls shows every device call that instantiating and replaying makes. The
// argument do lists what is called instead of one Replay, and also names passes to run besides.
func TestCalls(t *testing.T) {
	datadriven.RunTest(t, "testdata/calls", func(t *testing.T, d *datadriven.TestData) string {
		var strategy, backend string
		d.ScanArgs(t, "strategy", &strategy)
		d.ScanArgs(t, "backend", &backend)
		form := graphexec.Graph
		if backend == graphexec.Streams.String() {
			form = graphexec.Streams
		}

		var also []string
		for _, arg := range d.CmdArgs {
			if arg.Key == "also" {
				also = arg.Vals
			}
		}
		s := plan(t, d.Input, strategy, also...)
		var log strings.Builder
		plain := null.New()
		b := bind(t, plain, s.Graph)
		dev := wrap.Logging(plain, &log)
		x, err := graphexec.Instantiate(dev, s, b, form)
		if err != nil {
			return err.Error() + "\n"
		}
		if d.HasArg("set") {
			var name string
			var value float64
			d.ScanArgs(t, "set", &name, &value)
			fmt.Fprintf(&log, "-- set $%s\n", name)
			require.NoError(t, x.Set(name, value))
		}
		steps := "replay"
		d.MaybeScanArgs(t, "do", &steps)
		for step := range strings.SplitSeq(steps, ",") {
			log.WriteString("-- " + step + "\n")
			switch step {
			case "replay":
				require.NoError(t, x.Replay(context.Background()))
			case "wait":
				require.NoError(t, x.Wait(context.Background()))
			case "stream":
				x.Stream()
			default:
				t.Fatalf("unknown step %s", step)
			}
		}
		log.WriteString("-- close\n")
		require.NoError(t, x.Close())
		return log.String()
	})
}

// diamond has work of every kind, a parameter, and needs two lanes.
const diamond = `
graph diamond {
  module m "m.ptx"
  param $alpha f32 = 0.5
  buffer @a f32[64] device(0) inout
  buffer @b f32[64] device(0) temporary
  buffer @c f32[64] device(0) temporary
  buffer @h f32[64] pinned output
  %0 = memset @a[0:256] u32=0
  %1 = launch m.left grid(1) block(64) args(@a, @b, $alpha) uses(read @a, write @b)
  %2 = launch m.right grid(1) block(64) args(@a, @c+128, i32=7, $alpha) uses(read @a, write @c)
  %3 = launch m.join grid(1) block(64) args(@b, @c, @a) uses(read @b, read @c, write @a)
  %4 = copy @a[0:256] -> @h[0:256]
  %5 = host "done" uses(read @h)
}
`

func forEachBackend(t *testing.T, f func(t *testing.T, form graphexec.Backend)) {
	for _, form := range graphexec.Backends() {
		t.Run(form.String(), func(t *testing.T) { f(t, form) })
	}
}

func TestReplayAllocatesNothing(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		s := plan(t, diamond, "nimble")
		dev := null.New()
		x, err := graphexec.Instantiate(dev, s, bind(t, dev, s.Graph), form)
		require.NoError(t, err)
		ctx := context.Background()
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			if err := x.Replay(ctx); err != nil {
				t.Error(err)
			}
			if err := x.Wait(ctx); err != nil {
				t.Error(err)
			}
		}))
		assert.Equal(t, 101, x.Stats().Replays)
		require.NoError(t, x.Close())
	})
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		s := plan(t, diamond, "nimble")
		dev := null.New()
		b := bind(t, dev, s.Graph)
		before := dev.Live()
		x, err := graphexec.Instantiate(dev, s, b, form)
		require.NoError(t, err)
		require.NotEqual(t, before, dev.Live())
		require.NoError(t, x.Close())
		assert.Equal(t, before, dev.Live())
		assert.NoError(t, x.Close(), "closing twice")
		assert.ErrorContains(t, x.Replay(context.Background()), "closed Exec")
		assert.ErrorContains(t, x.Set("alpha", 1), "closed Exec")
	})
}

// TestAnyFailedCallLeavesNothingBehind lets each device call of Instantiate fail
// in turn.
func TestAnyFailedCallLeavesNothingBehind(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		s := plan(t, diamond, "nimble")
		for n := 0; ; n++ {
			plain := null.New()
			b := bind(t, plain, s.Graph)
			before := plain.Live()
			armed := wrap.FailCall(n, device.OutOfMemory)
			dev := wrap.Faults(plain, func(call int, method string) device.Code { return armed(call, method) })
			x, err := graphexec.Instantiate(dev, s, b, form)
			if err == nil {
				require.Greater(t, n, 5, "Instantiate made hardly a call")
				armed = func(int, string) device.Code { return 0 }
				require.NoError(t, x.Close())
				return
			}
			require.Equal(t, device.OutOfMemory, device.CodeOf(err), "call %d: %v", n, err)
			require.Equal(t, before, plain.Live(), "after call %d failed", n)
		}
	})
}

func TestReplayStopsWhenTheContextIsDone(t *testing.T) {
	s := plan(t, diamond, "serial")
	dev := null.New()
	x, err := graphexec.Instantiate(dev, s, bind(t, dev, s.Graph), graphexec.Graph)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	assert.ErrorIs(t, x.Replay(ctx), context.Canceled)
	assert.Zero(t, x.Stats().Replays)
}

func TestSetNamesWhatIsWrong(t *testing.T) {
	s := plan(t, diamond, "serial")
	dev := null.New()
	x, err := graphexec.Instantiate(dev, s, bind(t, dev, s.Graph), graphexec.Graph)
	require.NoError(t, err)
	assert.EqualError(t, x.Set("beta", 1), "no parameter $beta: the trace declares $alpha")
	assert.EqualError(t, x.Set("alpha", "1"), "parameter $alpha: string is not a number for f32")
	require.NoError(t, x.Set("alpha", 2))
	assert.Equal(t, 2, x.Stats().Updates, "one for each launch that takes it")
}

func TestAParameterTakenTwiceIsOneUpdate(t *testing.T) {
	s := plan(t, `
graph twice {
  module m "m.ptx"
  param $alpha f32 = 0.5
  %0 = launch m.k grid(1) block(1) args($alpha, i32=7, $alpha)
  %1 = launch m.k grid(1) block(1) args($alpha, i32=7, i32=8)
}`, "serial")
	var log strings.Builder
	plain := null.New()
	b := bind(t, plain, s.Graph)
	x, err := graphexec.Instantiate(wrap.Logging(plain, &log), s, b, graphexec.Graph)
	require.NoError(t, err)
	require.NoError(t, x.Set("alpha", 0.25))
	assert.Equal(t, 1, strings.Count(log.String(), "UpdateNodes(exec1, [node1 launch"), "one call")
	assert.NotContains(t, log.String(), "UpdateNode(")
	assert.Equal(t, 2, x.Stats().Updates)
	require.NoError(t, x.Close())
}

func TestAFailedUpdateNamesTheOperation(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		s := plan(t, diamond, "serial")
		plain := null.New()
		fail := device.Code(0)
		dev := wrap.Faults(plain, func(_ int, method string) device.Code {
			if strings.HasPrefix(method, "Update") {
				return fail
			}
			return 0
		})
		x, err := graphexec.Instantiate(dev, s, bind(t, plain, s.Graph), form)
		require.NoError(t, err)
		rebuilds := 0
		for _, fail = range []device.Code{device.OutOfMemory, device.GraphUpdateForbidden, device.InvalidValue, device.NotSupported} {
			err = x.Set("alpha", 2)
			if form == graphexec.Graph && fail != device.OutOfMemory {
				require.NoError(t, err, "what a driver refuses to update is instantiated again")
				rebuilds++
				assert.Equal(t, rebuilds, x.Stats().Rebuilds)
				continue
			}
			assert.Equal(t, fail, device.CodeOf(err))
			assert.ErrorContains(t, err, "left: Update")
		}
		require.NoError(t, x.Close())
	})
}

func TestADroppedWaitIsRefused(t *testing.T) {
	s := plan(t, diamond, "nimble")
	dropped := 0
	for op := range s.Waits {
		for i := range s.Waits[op] {
			broken := *s
			broken.Waits = append([][]ir.OpID(nil), s.Waits...)
			broken.Waits[op] = append(append([]ir.OpID(nil), s.Waits[op][:i]...), s.Waits[op][i+1:]...)
			dev := null.New()
			_, err := graphexec.Instantiate(dev, &broken, bind(t, dev, s.Graph), graphexec.Streams)
			assert.ErrorContains(t, err, "cannot instantiate the schedule", "without the wait of %%%d", op)
			dropped++
		}
	}
	require.Positive(t, dropped)
}

// TestReplayNIsOneCall counts what reaches the device, and where in the list each call begins and ends.
func TestReplayNIsOneCall(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		s := plan(t, diamond, "nimble")
		plain := null.New()
		b := bind(t, plain, s.Graph)
		var calls []string
		dev := wrap.Intercept(plain, func(c *wrap.Call, next func() error) error {
			calls = append(calls, c.Method)
			return next()
		})
		x, err := graphexec.Instantiate(dev, s, b, form)
		require.NoError(t, err)
		calls = nil
		require.NoError(t, x.ReplayN(context.Background(), 1000))
		require.NoError(t, x.ReplayN(context.Background(), 0))
		assert.Equal(t, []string{"SubmitCommands"}, calls)
		assert.Equal(t, 1000, x.Stats().Replays)
		assert.EqualError(t, x.ReplayN(context.Background(), -1), "-1 replays: want 0 or more")
		cancelled, cancel := context.WithCancel(context.Background())
		cancel()
		assert.ErrorIs(t, x.ReplayN(cancelled, 5), context.Canceled)
		assert.Equal(t, 1000, x.Stats().Replays)
		require.NoError(t, x.Close())
		assert.ErrorContains(t, x.ReplayN(context.Background(), 1), "closed Exec")
	})
}

// TestVeryManyReplaysEndWhenTheContextIsDone cancels in the third part of more replays than there is a number for commands.
func TestVeryManyReplaysEndWhenTheContextIsDone(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		s := plan(t, diamond, "nimble")
		ctx, cancel := context.WithCancel(context.Background())
		parts := 0
		dev := wrap.Intercept(null.New(), func(c *wrap.Call, next func() error) error {
			if c.Method == "SubmitCommands" {
				if parts++; parts == 3 {
					cancel()
				}
			}
			return next()
		})
		x, err := graphexec.Instantiate(dev, s, bind(t, dev, s.Graph), form)
		require.NoError(t, err)
		assert.ErrorIs(t, x.ReplayN(ctx, math.MaxInt), context.Canceled)
		assert.Equal(t, 3, parts)
		assert.Equal(t, 3<<14, x.Stats().Replays)
		require.NoError(t, x.ReplayN(context.Background(), 2<<14+7))
		assert.Equal(t, 6, parts)
		assert.Equal(t, 5<<14+7, x.Stats().Replays)
		require.NoError(t, x.Wait(ctx))
		require.NoError(t, x.Close())
	})
}

// TestAnExecIsOfOneGoroutine calls it again from within a call.
func TestAnExecIsOfOneGoroutine(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		const busy = "replay of an Exec that is being replayed or changed: one goroutine at a time may use it"
		s := plan(t, diamond, "nimble")
		var x *graphexec.Exec
		within := false
		dev := wrap.Intercept(null.New(), func(c *wrap.Call, next func() error) error {
			if within {
				assert.EqualError(t, x.Replay(context.Background()), busy)
				assert.EqualError(t, x.Set("alpha", 2), busy)
			}
			return next()
		})
		x, err := graphexec.Instantiate(dev, s, bind(t, dev, s.Graph), form)
		require.NoError(t, err)
		within = true
		require.NoError(t, x.Replay(context.Background()))
		within = false
		assert.Equal(t, graphexec.Stats{Replays: 1}, x.Stats())
		require.NoError(t, x.Close())
	})
}

func TestAClosedDeviceIsToldOnce(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		s := plan(t, diamond, "nimble")
		dev := null.New()
		x, err := graphexec.Instantiate(dev, s, bind(t, dev, s.Graph), form)
		require.NoError(t, err)
		require.NoError(t, dev.Close())
		assert.ErrorContains(t, x.Replay(context.Background()), "the device has been closed")
		assert.EqualError(t, x.Close(), "close diamond: SynchronizeAll: CUDA_ERROR_DEINITIALIZED (4): the device has been closed")
		assert.Zero(t, x.Stream())
	})
}
