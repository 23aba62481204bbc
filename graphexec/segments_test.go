package graphexec_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/graphexectest"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/segments"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

var cases = flag.Int("cases", 400, "replays by segments that TestSegments makes, and stops that TestRunners makes")

// TestSegments replays random programs piece by piece. "-cases 10000" makes more replays.
func TestSegments(t *testing.T) {
	count := *cases
	if testing.Short() {
		count /= 4
	}
	graphexectest.Segments(t, func() device.Device {
		dev, err := sim.New(sim.Options{Memo: sim.MemoOff, Race: sim.RaceOn})
		require.NoError(t, err)
		return dev
	}, count)
}

// TestRunners replays random programs by pieces on the device and stops them. "-cases 10000" makes more stops. The flag is
// written while kernels read it, which the simulator would report as a race.
func TestRunners(t *testing.T) {
	count := *cases
	if testing.Short() {
		count /= 4
	}
	graphexectest.Runners(t, func() device.Device {
		dev, err := sim.New(sim.Options{Memo: sim.MemoOff})
		require.NoError(t, err)
		return dev
	}, count)
}

// cut gives a schedule of at least three operations pieces of one operation, each predicted to take 10 ns, and of two,
// which take 15 ns.
func cut(s *ir.Schedule) *ir.Schedule {
	s.Segments = nil
	for size := range 2 {
		s.Segments = append(s.Segments, struct {
			Limit  int64
			Pieces []struct {
				End       int
				Predicted int64
				Bound     string
				Oversize  string
			}
		}{Limit: int64(10 + 5*size)})
		level := &s.Segments[size]
		for end := 0; end < len(s.Order); {
			n := min(end+size+1, len(s.Order)) - end
			end += n
			level.Pieces = append(level.Pieces, struct {
				End       int
				Predicted int64
				Bound     string
				Oversize  string
			}{End: end, Predicted: int64(5 + 5*n), Bound: "memory"})
		}
	}
	return s
}

// TestSubmitTilesWithTheCoarsestPieces uses four operations in pieces of one and of two.
func TestSubmitTilesWithTheCoarsestPieces(t *testing.T) {
	s := cut(plan(t, diamond, "nimble"))
	dev := null.New()
	x, err := graphexec.Instantiate(dev, s, bind(t, dev, s.Graph), graphexec.Graph)
	require.NoError(t, err)
	p, err := segments.Of(x)
	require.NoError(t, err)
	_, err = segments.Of(x)
	require.ErrorContains(t, err, "already has a segments.Program")
	n := len(p.Units())
	require.Equal(t, s.Graph.Len(), n)
	require.GreaterOrEqual(t, n, 4)
	assert.Equal(t, "memory", p.Units()[0].Bound)
	assert.EqualValues(t, 10, p.Units()[0].Predicted)
	for _, c := range []struct {
		from   int
		within time.Duration
		to     int
		took   time.Duration
	}{{0, 9, 0, 0}, {0, 14, 1, 10}, {0, 15, 2, 15}, {0, 25, 3, 25}, {0, 30, 4, 30}, {1, 25, 4, 25}, {1, 24, 3, 20}} {
		assert.Equal(t, c.to, p.Longest(c.from, c.within), "%+v", c)
		assert.Equal(t, c.took, p.Predicted(c.from, c.to), "%+v", c)
	}
	stream, err := dev.CreateStream(0)
	require.NoError(t, err)
	assert.EqualError(t, p.Submit(stream, 1, 2), "segment 1 does not follow the last one submitted: submit 0 next, or 0 to begin a replay")
	for _, r := range [][2]int{{0, 0}, {-1, 1}, {0, n + 1}, {2, 1}} {
		assert.ErrorContains(t, p.Submit(stream, r[0], r[1]), "there are no segments", r)
	}
	require.NoError(t, p.Submit(stream, 0, 3))
	assert.ErrorContains(t, p.Submit(stream, 2, 4), "segment 2 does not follow the last one submitted: submit 3 next")
	assert.ErrorContains(t, x.Replay(context.Background()), "a replay by segments has submitted 3 of")
	assert.ErrorContains(t, x.Set("alpha", 1), "a replay by segments has submitted 3 of")
	assert.Zero(t, x.Stats().Replays)
	require.NoError(t, p.Submit(stream, 3, n))
	assert.Equal(t, 1, x.Stats().Replays)
	require.NoError(t, p.Submit(stream, 0, 1))
	require.NoError(t, p.Submit(stream, 0, n), "a new replay may begin at any time")
	require.NoError(t, x.Set("alpha", 1))
	require.NoError(t, x.Replay(context.Background()))
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	assert.ErrorContains(t, p.Submit(stream, 0, n), "closed segments.Program")
	require.NoError(t, x.Replay(context.Background()))
	again, err := segments.Of(x)
	require.NoError(t, err)
	require.NoError(t, x.Close())
	assert.ErrorContains(t, again.Submit(stream, 0, n), "whose Exec is closed")
}

// A schedule without segments is one piece.
func TestAScheduleWithoutSegmentsIsOnePiece(t *testing.T) {
	s := plan(t, diamond, "nimble")
	dev := null.New()
	x, err := graphexec.Instantiate(dev, s, bind(t, dev, s.Graph), graphexec.Streams)
	require.NoError(t, err)
	p, err := segments.Of(x)
	require.NoError(t, err)
	require.Len(t, p.Units(), 1)
	assert.EqualValues(t, s.Predicted, p.Units()[0].Predicted)
	require.NoError(t, x.Close())
}

// TestSubmitCrossesOncePerPiece counts allocations and calls.
func TestSubmitCrossesOncePerPiece(t *testing.T) {
	s := cut(plan(t, diamond, "nimble"))
	var calls atomic.Int64
	plain := null.New()
	dev := wrap.Counting(plain, &calls)
	x, err := graphexec.Instantiate(dev, s, bind(t, plain, s.Graph), graphexec.Graph)
	require.NoError(t, err)
	p, err := segments.Of(x)
	require.NoError(t, err)
	stream, err := dev.CreateStream(0)
	require.NoError(t, err)
	n := len(p.Units())
	calls.Store(0)
	require.NoError(t, p.Submit(stream, 0, 3))
	require.NoError(t, p.Submit(stream, 3, n))
	assert.EqualValues(t, 2+1+(n-4+1)/2, calls.Load(), "a pair and a single one, a single one and pairs")
	require.NoError(t, x.Close())

	x, err = graphexec.Instantiate(plain, s, bind(t, plain, s.Graph), graphexec.Graph)
	require.NoError(t, err)
	p, err = segments.Of(x)
	require.NoError(t, err)
	if stream, err = plain.CreateStream(0); err != nil {
		t.Fatal(err)
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		to := p.Longest(0, 25)
		if err := p.Submit(stream, 0, to); err != nil {
			t.Error(err)
		}
		if err := p.Submit(stream, to, n); err != nil {
			t.Error(err)
		}
	}))
	require.NoError(t, x.Close())
}

// TestAnyFailedCallOfSegmentsLeavesNothingBehind lets each call of a life with segments fail in turn: instantiating,
// submitting, changing in place and with a rebuild. Calls that free succeed.
func TestAnyFailedCallOfSegmentsLeavesNothingBehind(t *testing.T) {
	for _, text := range []string{diamond, looping} {
		for _, form := range graphexec.Backends() {
			s := cut(plan(t, text, "nimble"))
			for n := 1; ; n++ {
				plain, b := nullOrSimulated(t, s.Graph)
				stream, err := plain.CreateStream(0)
				require.NoError(t, err)
				before, calls := plain.Live(), 0
				dev := wrap.Faults(plain, func(_ int, method string) device.Code {
					if strings.HasPrefix(method, "Free") || strings.HasPrefix(method, "Destroy") || strings.HasPrefix(method, "Unload") {
						return 0
					}
					if calls++; calls == n {
						return device.OutOfMemory
					}
					return 0
				})
				err = lifeOfSegments(dev, s, b, stream, form)
				require.NoError(t, plain.SynchronizeAll())
				require.Equal(t, before, plain.Live(), "%v, call %d failed: %v", form, n, err)
				if calls < n {
					require.NoError(t, err)
					assert.Greater(t, n, 10)
					break
				}
			}
		}
	}
}

// nullOrSimulated returns a device on which a graph can be instantiated with conditional nodes, and its memory there.
func nullOrSimulated(t *testing.T, g *ir.Graph) (interface {
	device.Device
	device.Accounter
}, traced.Bindings) {
	if !has(g) {
		dev := null.New()
		return dev, bind(t, dev, g)
	}
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	m := newMemory(t, dev, g)
	m.zero()
	return dev, m
}

// lifeOfSegments replays by pieces, as a whole and with changes, and closes the Exec. It returns the first error.
func lifeOfSegments(dev device.Device, s *ir.Schedule, b traced.Bindings, stream device.Stream, form graphexec.Backend) (err error) {
	x, err := graphexec.Instantiate(dev, s, b, form)
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, x.Close()) }()
	p, err := segments.Of(x)
	if err != nil {
		return err
	}
	n := len(p.Units())
	if err := lifeOfRunner(dev, p, stream); err != nil && device.CodeOf(err) != device.NotSupported {
		return err
	}
	change := func() error { return nil }
	if len(s.Graph.Params) > 0 {
		change = func() error {
			return device.Join(x.Set("alpha", 2), x.Apply(graphexec.Enable("%1", false)), x.Apply(graphexec.Enable("%1", true)))
		}
	}
	for _, step := range []func() error{
		func() error { return p.Submit(stream, 0, 1) },
		func() error { return p.Submit(stream, 1, n) },
		change,
		func() error { return x.Replay(context.Background()) },
		func() error { return p.Submit(stream, 0, n) },
		func() error { return p.Close() },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// lifeOfRunner launches, stops and resets a Runner, which it leaves open. It returns the first error.
func lifeOfRunner(dev device.Device, p segments.Program, stream device.Stream) error {
	r, err := p.Runner()
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return r.Launch(stream, 2) },
		func() error { return r.Stop() },
		func() error { return dev.Synchronize(stream) },
		func() error { return r.Reset() },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// TestLoopsInSegments replays random programs with loops and branches piece by piece. On a device without conditional nodes
// they are refused.
func TestLoopsInSegments(t *testing.T) {
	pieces := 0
	for seed := range uint64(20) {
		g := newControlled(seed, 3+int(seed%9), 1+int(seed%3))
		want := newModel()
		r := rand.New(rand.NewPCG(seed, 6))
		dev, err := sim.New(sim.Options{Memo: sim.MemoOff, Race: sim.RaceOn})
		require.NoError(t, err)
		plan, err := optimizer.Plan(g, optimizer.Options{Also: []string{"segment(1us)"}, Verify: true})
		require.NoError(t, err)
		m := newMemory(t, dev, g)
		m.zero()
		exec, err := graphexec.Instantiate(dev, plan.Schedule, m, graphexec.Backends()[seed%2])
		require.NoError(t, err)
		p, err := segments.Of(exec)
		require.NoError(t, err)
		for range 3 {
			want.run(g, "")
			for from, n := 0, len(p.Units()); from < n; {
				to := from + 1 + r.IntN(n-from)
				require.NoError(t, p.Submit(m.s, from, to))
				from = to
			}
		}
		pieces += len(p.Units())
		require.Equal(t, want.memory, m.bytes(), "seed %d\n%s", seed, ir.Format(plan.Graph, plan.Schedule))
		runner, err := p.Runner()
		require.NoError(t, err)
		require.NoError(t, runner.Launch(m.s, 2*len(p.Units())))
		require.NoError(t, dev.Synchronize(m.s))
		want.run(g, "")
		want.run(g, "")
		require.Equal(t, want.memory, m.bytes(), "on the device, seed %d\n%s", seed, ir.Format(plan.Graph, plan.Schedule))
		require.NoError(t, exec.Close())

		exec, err = graphexec.Instantiate(plainDevice{dev}, plan.Schedule, m, graphexec.Graph)
		require.NoError(t, err)
		if _, err = segments.Of(exec); has(g) {
			require.ErrorContains(t, err, "no conditional nodes")
		} else {
			require.NoError(t, err)
		}
		require.NoError(t, exec.Close())
		require.NoError(t, dev.Close())
	}
	assert.Greater(t, pieces, 40)
}

// has reports whether a program has loops or branches.
func has(g *ir.Graph) bool {
	for v := range g.Ops {
		if g.Ops[v].Control != nil {
			return true
		}
	}
	return false
}

// Launches of a kernel in several slices follow parameters and keep the promises of slices. Changes of one operation are
// refused with the reason, and others are allowed.
func TestChangesOfSlicedLaunches(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		dev, err := sim.New(sim.Options{Race: sim.RaceOn})
		require.NoError(t, err)
		tr := tracer.New(dev, "sliced", tracer.Deferred)
		x, y := tr.Alloc("x", ir.F32, 128, ir.InOut), tr.Alloc("y", ir.F32, 128, ir.InOut)
		n := tr.Param("n", ir.I32, 64)
		k, ok := kernels.Lookup("square")
		require.True(t, ok)
		square := tr.Module(k.File, k.PTX).Kernel("square")
		tr.Launch(square, tracer.Linear(2, 32), x.Slice(0, 64), y.Slice(0, 64), n)
		tr.Memset(x.Slice(64, 128), float32(1))
		trace, err := tr.Finish()
		require.NoError(t, err)
		data := make([]float32, 128)
		for i := range data {
			data[i] = float32(i)
		}
		require.NoError(t, tracer.Write(x, data))
		require.NoError(t, tracer.Write(y, data))

		g := *trace.Graph
		g.Ops = slices.Clone(g.Ops)
		g.Ops[0].Cost = 2000
		plan, err := optimizer.Plan(&g, optimizer.Options{Also: []string{"segment(1us)"}, Streams: form == graphexec.Streams, Verify: true})
		require.NoError(t, err)
		require.Len(t, plan.Graph.Sliced, 2)
		exec, err := graphexec.Instantiate(dev, plan.Schedule, trace, form)
		require.NoError(t, err)
		const reason = "several launches run its blocks: plan without slice and segment"
		for _, name := range []string{"%0", "square"} {
			assert.ErrorContains(t, exec.Apply(graphexec.Enable(name, false)), reason)
			assert.ErrorContains(t, exec.Apply(graphexec.Grid(name, ir.Dim3{X: 1, Y: 1, Z: 1})), reason)
		}
		require.NoError(t, exec.Apply(graphexec.Enable("%1", false)), "others can be switched off")
		var slice *tracer.SliceError
		require.ErrorAs(t, exec.Set("n", 65), &slice)
		require.NoError(t, exec.Set("n", 50))
		require.NoError(t, exec.Replay(context.Background()))
		require.NoError(t, exec.Wait(context.Background()))
		require.NoError(t, tracer.Read(data, y))
		assert.EqualValues(t, 49*49, data[49], "in the second slice")
		assert.EqualValues(t, 50, data[50])
		require.NoError(t, tracer.Read(data, x))
		assert.EqualValues(t, 70, data[70])
		require.NoError(t, exec.Close())
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	})
}

// BenchmarkSegments decides how far a replay goes, and submits that far.
func BenchmarkSegments(b *testing.B) {
	s := cut(plan(b, diamond, "nimble"))
	dev := null.New()
	x, err := graphexec.Instantiate(dev, s, bind(b, dev, s.Graph), graphexec.Graph)
	require.NoError(b, err)
	p, err := segments.Of(x)
	require.NoError(b, err)
	stream, err := dev.CreateStream(0)
	require.NoError(b, err)
	b.ReportAllocs()
	from := 0
	for b.Loop() {
		to := p.Longest(from, 10)
		if err := p.Submit(stream, from, to); err != nil {
			b.Fatal(err)
		}
		from = to % len(p.Units())
	}
}
