package auto_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// watched is a program on a ledger, with buffers of 64 numbers.
type watched struct {
	*tracer.Tracer
	*ledger
	bodies  []*recital
	refuse  error // of the engine
	fail    error // of replays
	square  *tracer.Kernel
	sharpen *tracer.Kernel
	b       []tracer.Buffer
}

func watch(t testing.TB, buffers int) *watched {
	w := &watched{ledger: newLedger()}
	w.Tracer = auto.Start(w.ledger, "watched", func(body *tracer.Trace) (auto.Replayer, error) {
		if w.refuse != nil {
			return nil, w.refuse
		}
		r, err := w.engine(body)
		w.bodies = append(w.bodies, r.(*recital))
		return &failing{r.(*recital), &w.fail}, err
	})
	w.square, w.sharpen = load(t, w.Tracer, "square"), load(t, w.Tracer, "unsharpen")
	for range buffers {
		w.b = append(w.b, w.Alloc("b", ir.F32, 64, ir.InOut))
	}
	return w
}

// failing is a recital that can fail before anything is enqueued.
type failing struct {
	*recital
	err *error
}

func (f *failing) Replay() error {
	if *f.err != nil {
		return *f.err
	}
	return f.recital.Replay()
}

// pass launches the kernel over a number of elements, in two slices of buffers.
func (w *watched) pass(from, to int, n int64) {
	w.Helper()
	w.Launch(w.square, tracer.Linear(1, 64), w.b[from].Slice(0, n), w.b[to].Slice(0, n), n)
}

// step is four calls.
func (w *watched) step(from, to int) {
	w.Helper()
	for n := int64(1); n <= 4; n++ {
		w.pass(from, to, n)
	}
}

func TestAScalarThatChangesIsSetInPlace(t *testing.T) {
	w := watch(t, 3)
	for i := range 10 {
		w.step(0, 1)
		w.Launch(w.sharpen, tracer.Linear(1, 64), w.b[0], w.b[1], w.b[2], float32(i*i), 64)
	}
	s := auto.StatsOf(w.Tracer)
	assert.Equal(t, auto.Stats{Calls: 50, Replayed: 40, Replays: 8, Updates: 8, Bodies: 1}, s)
	require.NoError(t, w.Err())
}

// Two buffers that change places are back after two visits, three and two after six. A replay is six visits
// then, for which two are too little to go by.
func TestBuffersThatChangePlacesAreUnrolled(t *testing.T) {
	w := watch(t, 5)
	order := []int{0, 1, 2, 3, 4}
	const visits = 5 + 3*6
	for range visits {
		for _, i := range order {
			w.pass(i, i, 64)
		}
		w.pass(order[0], order[2], 64)
		order[0], order[1], order[2], order[3], order[4] = order[1], order[0], order[3], order[4], order[2]
	}
	s := auto.StatsOf(w.Tracer)
	assert.Equal(t, auto.Stats{Calls: 6 * visits, Replayed: 6 * (visits - 5), Replays: 3, Bodies: 1}, s)
	require.Len(t, w.bodies, 1)
	assert.Len(t, w.bodies[0].body.Graph.Ops, 36)
}

// If the host reads results in the middle of each iteration, each part is a replay of its own.
func TestALookDividesAnIteration(t *testing.T) {
	w := watch(t, 2)
	data := make([]float32, 64)
	for range 10 {
		w.step(0, 1)
		require.NoError(t, tracer.Read(data, w.b[0]))
		w.step(1, 0)
		w.pass(0, 0, 7)
		w.HostCall("done", func() error { return nil })
	}
	s := auto.StatsOf(w.Tracer)
	assert.Equal(t, auto.Stats{Calls: 90, Replayed: 72, Replays: 16, Bodies: 2}, s)
}

// A loop that the program returns to after others is replayed from its first call on.
func TestALoopThatComesAgainIsKnown(t *testing.T) {
	w := watch(t, 2)
	for round := range 3 {
		before := auto.StatsOf(w.Tracer)
		for range 3 {
			w.step(0, 1)
		}
		after := auto.StatsOf(w.Tracer)
		if round > 0 {
			assert.Equal(t, 12, after.Replayed-before.Replayed)
		}
		assert.Equal(t, 1, after.Bodies)
		for i := range 20 {
			w.Memset(w.b[0], 20*round+i)
		}
	}
}

func TestWhyNothingIsReplayed(t *testing.T) {
	for _, c := range []struct {
		name, why string
		do        func(w *watched, i int)
	}{
		{"nothing is done again", "no sequence of up to 1000 calls has occurred twice in a row", func(w *watched, i int) {
			w.pass(0, 1, int64(i*i%61+1))
		}},
		{"buffers go on", " is followed by @b_10, and what follows that does not show", func(w *watched, i int) {
			w.step(i, i+1)
		}},
		{"slices go on", "has occurred twice in a row", func(w *watched, i int) {
			w.Launch(w.square, tracer.Linear(1, 1), w.b[0].Slice(int64(i), int64(i)+1), w.b[1], 1)
		}},
		{"an iteration of 1001 calls", "no sequence of up to 1000 calls", func(w *watched, i int) {
			for n := range 1001 {
				w.Launch(w.square, tracer.Linear(uint32(n+1), 1), w.b[0], w.b[1], 1)
			}
		}},
		{"a fill of another value", ": its value is another each time, and is no argument of a kernel", func(w *watched, i int) {
			w.Memset(w.b[0], i)
			w.step(0, 1)
		}},
		{"buffers that are there for an iteration", "", func(w *watched, i int) {
			b := w.Alloc("mine", ir.F32, 64, ir.Temporary)
			w.Launch(w.square, tracer.Linear(1, 1), b, w.b[1], 1)
			w.Free(b)
		}},
		{"a look at each call", "its replays would take", func(w *watched, i int) {
			w.pass(0, 1, 1)
			w.Synchronize()
		}},
		{"an engine that cannot", "it is a Tuesday", func(w *watched, i int) {
			w.refuse = errors.New("it is a Tuesday")
			w.step(0, 1)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := watch(t, 40)
			for i := range 12 {
				c.do(w, i)
			}
			require.NoError(t, w.Err())
			s := auto.StatsOf(w.Tracer)
			assert.Zero(t, s.Replayed)
			t.Log(s.Reason)
			assert.Contains(t, s.Reason, c.why)
			assert.NotEmpty(t, s.Reason)
		})
	}
}

// For programs that leave each of their loops soon, few graphs are instantiated.
func TestLoopsThatEndSoonAreLeftAlone(t *testing.T) {
	w := watch(t, 40)
	for i := range 200 {
		for range 2 {
			w.step(i%7, i/7)
			w.pass(i/7, i%7, int64(i%64))
		}
	}
	s := auto.StatsOf(w.Tracer)
	assert.Less(t, s.Bodies, 10, "of 200 loops: %+v", s)
}

// Loops that last a little longer would each save the driver calls and cost the host their plan, which is
// dearer: that is tried with a few.
func TestLoopsThatDoNotPayForTheirPlansAreLeftAlone(t *testing.T) {
	w := watch(t, 2)
	for i := range 400 {
		for range 12 {
			w.step(0, 1)
			w.pass(1, 0, int64(i%64))
			w.pass(0, 1, int64(i/64))
		}
	}
	s := auto.StatsOf(w.Tracer)
	assert.Less(t, s.Bodies, 30, "of 400 loops: %+v", s)
	for range 1000 {
		w.step(1, 0)
	}
	assert.Greater(t, auto.StatsOf(w.Tracer).Replayed-s.Replayed, 3000, "one that lasts is taken up all the same")
	require.NoError(t, w.Err())
}

// TestAnErrorOfACallHeldBackNamesItsLine checks calls that are held back. They are checked when they are made,
// and an error of the device at their submission names the line of the call.
func TestAnErrorOfACallHeldBackNamesItsLine(t *testing.T) {
	submits, last := 0, 0
	dev := wrap.Faults(null.New(), func(_ int, method string) device.Code {
		if method == "Submit" {
			if submits++; submits == last {
				return device.OutOfMemory
			}
		}
		return 0
	})
	tr := auto.Start(dev, "held", (&ledger{Device: dev}).engine)
	square := load(t, tr, "square")
	x := tr.Alloc("x", ir.F32, 64, ir.InOut)
	y := tr.Alloc("y", ir.F32, 64, ir.InOut)
	var line int
	for i := range 4 {
		for n := range 4 {
			_, _, line, _ = runtime.Caller(0)
			tr.Launch(square, tracer.Linear(1, 64), x.Slice(0, int64(n)), y, n)
			if i == 3 && n == 2 {
				break
			}
		}
	}
	require.NoError(t, tr.Err())
	assert.Equal(t, 8, submits, "the third is a replay, and of the fourth all is held back")
	last = 10
	err := tracer.Read(make([]float32, 64), x)
	assert.ErrorContains(t, err, fmt.Sprintf("read @x: auto/watcher_test.go:%d: trace held: ", line+1))
	assert.Equal(t, device.OutOfMemory, device.CodeOf(tr.Err()))
	assert.Equal(t, 10, submits, "the one after is not submitted")
	tr.Launch(square, tracer.Linear(1, 64), x, y, "wrong")
	assert.NotContains(t, tr.Err().Error(), "wrong", "the first error is kept")
	_, err = tr.Finish()
	assert.Equal(t, device.OutOfMemory, device.CodeOf(err))
}

// A replay that is refused is replaced by single calls and not tried again at once. A replay that fails on the device
// stops the program.
func TestAReplayThatFails(t *testing.T) {
	w := watch(t, 2)
	for _, w.fail = range []error{nil, errors.New("not today")} {
		for range 3 {
			w.step(0, 1)
		}
		require.Equal(t, 1, auto.StatsOf(w.Tracer).Replays)
	}
	require.NoError(t, w.Err())
	assert.Len(t, w.work, 24)
	assert.Equal(t, "not today", auto.StatsOf(w.Tracer).Reason)
	assert.True(t, w.bodies[0].closed)

	w = watch(t, 2)
	w.fail = &device.Error{Code: device.IllegalAddress}
	for range 3 {
		w.step(0, 1)
	}
	assert.Equal(t, device.IllegalAddress, device.CodeOf(w.Err()))
	assert.ErrorContains(t, w.Err(), "watcher_test.go")
}

// More loops alternate than the cache holds. At the end all bodies are closed.
func TestOldLoopsMakeRoom(t *testing.T) {
	w := watch(t, 2)
	for range 3 {
		for i := range 40 {
			for range 100 {
				for n := range 6 {
					w.Launch(w.square, tracer.Linear(uint32(i+1), 64), w.b[n&1], w.b[1], n)
				}
			}
		}
	}
	require.NoError(t, w.Err())
	closed := 0
	for _, b := range w.bodies {
		if b.closed {
			closed++
		}
	}
	assert.Equal(t, 32, len(w.bodies)-closed)
	assert.Equal(t, auto.StatsOf(w.Tracer).Calls*98/100, auto.StatsOf(w.Tracer).Replayed, "all but the first two visits of each loop")
	trace, err := w.Finish()
	require.NoError(t, err)
	for _, b := range w.bodies {
		assert.True(t, b.closed)
	}
	assert.True(t, slices.Equal(w.bodies, w.ended), "those used least recently, and then the others, in the order in which they were made")
	assert.Empty(t, trace.Graph.Ops)
	require.NoError(t, trace.Close())
}

// On a program that never does the same again the driver sees what it sees without a watcher, memory stays as it
// is, and no call allocates more.
func TestWatchingWithoutEffect(t *testing.T) {
	const calls = 60_000 // more than it takes to grow tired
	program := func(tr *tracer.Tracer) (launch func()) {
		square := load(t, tr, "square")
		x := tr.Alloc("x", ir.F32, 1<<20, ir.InOut)
		i := int64(0)
		return func() {
			i++
			at := i * i % (1 << 19)
			tr.Launch(square, tracer.Linear(1, 32), x.Slice(at, at+i), x.Slice(at, at+i), i)
		}
	}
	transcript := func(tr func(device.Device) *tracer.Tracer) string {
		var log strings.Builder
		x := tr(wrap.Logging(null.New(), &log))
		launch := program(x)
		for range 3000 {
			launch()
		}
		_, err := x.Finish()
		require.NoError(t, err)
		return log.String()
	}
	direct := func(d device.Device) *tracer.Tracer { return tracer.New(d, "p", tracer.Direct) }
	watched := func(d device.Device) *tracer.Tracer { return auto.Start(d, "p", (&ledger{Device: d}).engine) }
	assert.Equal(t, transcript(direct), transcript(watched))

	allocations := func(tr *tracer.Tracer) (float64, uint64) {
		launch := program(tr)
		for range 3000 {
			launch()
		}
		heap := func() uint64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := heap()
		each := testing.AllocsPerRun(calls, launch)
		return each, max(heap(), before) - before
	}
	plain, _ := allocations(direct(null.New()))
	each, grown := allocations(watched(null.New()))
	assert.Equal(t, plain, each)
	assert.Less(t, grown, uint64(100_000), "bytes")
}

// Calls that come again in no order are not watched for long, be they of two kinds or sixteen: each may begin
// a repetition, and is dear to watch.
func TestCallsInNoOrderAreLeftAlone(t *testing.T) {
	for _, kinds := range []int64{2, 3, 4, 16} {
		w := watch(t, 1)
		w.silent = true
		r := rand.New(rand.NewPCG(uint64(kinds), 1))
		const calls = 16_000
		for range calls {
			w.pass(0, 0, r.Int64N(kinds))
		}
		assert.Less(t, auto.Watched(w.Tracer), 10_000, "of %d kinds", kinds)
		assert.Less(t, auto.StatsOf(w.Tracer).Bodies, 20, "of %d kinds", kinds)
		require.NoError(t, w.Err())
	}
}

// A loop that cannot be replayed is not watched for long: each of its iterations fills memory with another value.
func TestALoopThatIsNeverReplayedIsLeftAlone(t *testing.T) {
	for _, period := range []int{6, 20} {
		w := watch(t, 2)
		w.silent = true
		const calls = 200_000
		for i := range calls / period {
			w.Memset(w.b[0], i)
			for k := 1; k < period; k++ {
				w.Launch(w.square, tracer.Linear(uint32(k), 64), w.b[0], w.b[1], 64)
			}
		}
		assert.Less(t, auto.Watched(w.Tracer), 60_000, "of %d calls, by %d", calls, period)
		assert.Zero(t, auto.StatsOf(w.Tracer).Replayed)
		require.NoError(t, w.Err())
	}
}

// Watching resumes after a pause.
func TestALoopAfterALongTimeIsReplayed(t *testing.T) {
	w := watch(t, 2)
	w.silent = true
	at := w.Alloc("x", ir.F32, 1<<20, ir.InOut)
	for i := range int64(100_000) {
		w.Launch(w.square, tracer.Linear(1, 1), at.Slice(i*i%(1<<19), 1<<20), w.b[0], 1)
		if i%5000 == 0 {
			w.Synchronize()
		}
	}
	assert.Zero(t, auto.StatsOf(w.Tracer).Replayed)
	for range 10_000 {
		w.step(0, 1)
	}
	require.NoError(t, w.Err())
	assert.Greater(t, auto.StatsOf(w.Tracer).Replayed, 20_000)
}
