package graphexec_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/graphexectest"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// looped is a random program with a scalar at its end that grows or shrinks from
// iteration to iteration.
type looped struct {
	*run
	dev    device.Device
	scalar tracer.Buffer
	start  float32
	trace  *tracer.Trace
	body   *ir.Schedule
}

func newLooped(t *testing.T, p program, strategy string) *looped {
	dev, err := sim.New(sim.Options{Memo: sim.MemoOff, Race: sim.RaceOn})
	require.NoError(t, err)
	x := &looped{run: p.start(t, dev, tracer.Deferred), dev: dev}
	x.scalar = x.tr.Alloc("scalar", ir.F32, 3, ir.InOut)
	x.calls()
	last := x.scalar.Slice(1, 2)
	x.tr.Launch(x.unsharpen, tracer.Linear(1, 32), last, x.device[0], last, x.amount, 1)
	x.trace, err = x.tr.Finish()
	require.NoError(t, err)
	plan, err := optimizer.Plan(x.trace.Graph, optimizer.Options{Strategy: strategy, Verify: true})
	require.NoError(t, err)
	x.body = plan.Schedule
	x.start = 0.2 + 0.6*x.r.Float32()
	x.reset()
	return x
}

func (x *looped) reset() {
	x.fill()
	require.NoError(x.t, tracer.Write(x.scalar, []float32{7, x.start, 8}))
}

func (x *looped) bytes() [][]uint32 {
	data := make([]uint32, 3)
	require.NoError(x.t, tracer.Read(data, x.scalar))
	return append(x.contents(), data)
}

func (x *looped) value() float64 { return float64(math.Float32frombits(x.bytes()[len(x.device)+1][1])) }

// plainly replays the body n times one by one, and returns what the scalar was after each
// and what the buffers held, beginning with the start.
func (x *looped) plainly(n int) (values []float64, contents [][][]uint32) {
	x.reset()
	exec, err := graphexec.Instantiate(x.dev, x.body, x.trace, graphexec.Graph)
	require.NoError(x.t, err)
	for i := range n + 1 {
		if i > 0 {
			require.NoError(x.t, exec.Replay(context.Background()))
			require.NoError(x.t, exec.Wait(context.Background()))
		}
		values, contents = append(values, x.value()), append(contents, x.bytes())
	}
	require.NoError(x.t, exec.Close())
	return values, contents
}

func (x *looped) close() {
	require.NoError(x.t, x.trace.Close())
	require.NoError(x.t, x.dev.Close())
}

// holds is Until by the book.
func holds(x float64, is ir.Comparison, value float64) bool {
	switch is {
	case ir.Below:
		return x < value
	case ir.AtMost:
		return x <= value
	case ir.Equal:
		return x == value
	case ir.NotEqual:
		return x != value
	case ir.AtLeast:
		return x >= value
	}
	return x > value
}

// stop is the iteration at which a loop over these values ends, and how.
func stop(values []float64, l loop.Loop) (int, loop.Ending) {
	for i := 1; i <= l.MaxIterations; i++ {
		if i%l.CheckEvery != 0 && i != l.MaxIterations {
			continue
		}
		if math.IsNaN(values[i]) {
			return i, loop.NotANumber
		}
		if holds(values[i], l.Until.Is, l.Until.Value) {
			return i, loop.Met
		}
	}
	return l.MaxIterations, loop.Exhausted
}

var comparisons = []ir.Comparison{ir.Below, ir.AtMost, ir.Equal, ir.NotEqual, ir.AtLeast, ir.Above}

var lowerings = []loop.Lowering{loop.Auto, loop.HostChecked, loop.Unrolled, loop.WhileNode}

// batch is a number of iterations that a graph of the loop may have, 0 for any.
func batch(r *rand.Rand, l loop.Loop) int {
	all := []int{0}
	for n := 1; n <= l.CheckEvery; n++ {
		if l.CheckEvery%n == 0 {
			all = append(all, n)
		}
	}
	if l.Lowering == loop.Unrolled && l.Overrun != loop.Forbidden {
		all = append(all, 2*l.CheckEvery, 3*l.CheckEvery)
	}
	return all[r.IntN(len(all))]
}

// describe is a loop for failures.
func describe(seed uint64, l loop.Loop) string {
	return fmt.Sprintf("seed %d, %v, by batches of %d on %v, of at most %d until %v %g, checked every %d, overrun %v",
		seed, l.Lowering, l.Batch, l.Backend, l.MaxIterations, l.Until.Is, l.Until.Value, l.CheckEvery, l.Overrun)
}

// TestEveryLoweringEndsAtTheSameIterationWithTheSameBytes runs loops over random
// programs, with thresholds among the values that the scalar takes, in every way.
func TestEveryLoweringEndsAtTheSameIterationWithTheSameBytes(t *testing.T) {
	const longest = 12
	rounds := uint64(40)
	if testing.Short() {
		rounds = 8
	}
	ended := map[loop.Ending]int{}
	ran, over := map[loop.Lowering]int{}, 0
	for seed := range rounds {
		p := program{seed: seed, ops: 2 + int(seed%12), buffers: 2 + int(seed%3), scratch: seed%2 == 0}
		x := newLooped(t, p, []string{"serial", "nimble", "levels"}[seed%3])
		values, contents := x.plainly(longest)
		r := rand.New(rand.NewPCG(seed, 3))
		for range 4 {
			l := loop.Loop{
				Body:          x.body,
				Until:         loop.Until{Buffer: x.scalar.ID(), Index: 1, Is: comparisons[r.IntN(len(comparisons))], Value: values[r.IntN(longest)]},
				MaxIterations: r.IntN(longest + 1),
				CheckEvery:    1 + r.IntN(5),
				Backend:       graphexec.Backends()[r.IntN(2)],
				Overrun:       []loop.Overrun{loop.Forbidden, loop.Undone}[r.IntN(2)],
			}
			iterations, ending := stop(values, l)
			ended[ending]++
			for _, l.Lowering = range lowerings {
				l.Batch = batch(r, l)
				what := describe(seed, l)
				loopExec, err := loop.Instantiate(x.dev, l, x.trace)
				if err != nil && (l.Lowering == loop.WhileNode || l.Overrun == loop.Undone) {
					require.ErrorContains(t, err, "host call", what)
					continue
				}
				require.NoError(t, err, what)
				ran[l.Lowering]++
				for range 2 { // a run leaves nothing for the next
					x.reset()
					result, err := loopExec.Run(context.Background())
					require.NoError(t, err, what)
					require.Equal(t, iterations, result.Iterations, what)
					require.Equal(t, ending, result.Ending, what)
					require.Equal(t, contents[iterations], x.bytes(), what)
				}
				require.Equal(t, 2*iterations, loopExec.Stats().Iterations)
				over += loopExec.Stats().Overrun
				require.NoError(t, loopExec.Close())
			}
		}
		x.close()
	}
	assert.Positive(t, ended[loop.Met])
	assert.Positive(t, ended[loop.Exhausted])
	for _, lowering := range lowerings {
		assert.Greater(t, ran[lowering], int(rounds), "%v hardly ever ran", lowering)
	}
	assert.Greater(t, over, int(rounds), "hardly an iteration was undone")
}

// TestABodyThatStandsStillMayOverrun grows a scalar until it is 1, where it stays, and counts how often the body runs.
func TestABodyThatStandsStillMayOverrun(t *testing.T) {
	dev, err := sim.New(sim.Options{Race: sim.RaceOn})
	require.NoError(t, err)
	tr := tracer.New(dev, "still", tracer.Deferred)
	x := &run{t: t, tr: tr}
	scalar, low := tr.Alloc("scalar", ir.F32, 1, ir.InOut), tr.Alloc("low", ir.F32, 1, ir.Input)
	tr.Launch(x.kernel("unsharpen"), tracer.Linear(1, 32), scalar, low, scalar, tr.Param("amount", ir.F32, 0.25), 1)
	runs := tr.Alloc("runs", ir.U32, 1, ir.InOut)
	tr.Launch(tr.Module("count.ptx", strings.Replace(trap, "%r1, 7", "%r1, 0", 1)).Kernel("trap"), tracer.Linear(1, 1), runs)
	trace, body := finished(t, tr)
	values := []float64{0.5}
	for len(values) < 31 {
		values = append(values, math.Min(1, values[len(values)-1]*1.25-0.2*0.25))
	}
	r := rand.New(rand.NewPCG(1, 4))
	over := 0
	for range 60 {
		l := loop.Loop{
			Body: body, Until: loop.Until{Buffer: scalar.ID(), Is: ir.AtLeast, Value: 1},
			MaxIterations: 1 + r.IntN(30), CheckEvery: 1 + r.IntN(6), Overrun: loop.Harmless,
			Lowering: lowerings[r.IntN(len(lowerings))], Backend: graphexec.Backends()[r.IntN(2)],
		}
		l.Batch = batch(r, l)
		loopExec, err := loop.Instantiate(dev, l, trace)
		require.NoError(t, err, describe(0, l))
		require.NoError(t, tracer.Write(scalar, []float32{0.5}))
		require.NoError(t, tracer.Write(low, []float32{0.2}))
		require.NoError(t, tracer.Write(runs, []uint32{0}))
		result, err := loopExec.Run(context.Background())
		require.NoError(t, err)
		iterations, ending := stop(values, l)
		require.Equal(t, iterations, result.Iterations, describe(0, l))
		require.Equal(t, ending, result.Ending, describe(0, l))
		var ran [1]uint32
		require.NoError(t, tracer.Read(ran[:], runs))
		require.EqualValues(t, result.Iterations+loopExec.Stats().Overrun, ran[0], describe(0, l))
		if result.Lowering == loop.HostChecked {
			require.EqualValues(t, ran[0], loopExec.Stats().Launches, describe(0, l))
		}
		over += loopExec.Stats().Overrun
		require.NoError(t, loopExec.Close())
	}
	require.Greater(t, over, 60)
	require.NoError(t, device.Join(trace.Close(), dev.Close()))
}

// fuse is a context that is done from its n-th look on.
type fuse struct {
	context.Context
	looks, n int
}

func (f *fuse) Done() <-chan struct{} { return make(chan struct{}) }

func (f *fuse) Err() error {
	if f.looks++; f.looks > f.n {
		return context.Canceled
	}
	return nil
}

// TestACancelledLoopLeavesTheBytesOfSomeIteration cancels at every look.
func TestACancelledLoopLeavesTheBytesOfSomeIteration(t *testing.T) {
	const longest, every = 13, 3
	x := newLooped(t, program{seed: 5, ops: 4, buffers: 2}, "nimble")
	x.body.Profile = "" // or a while node would begin with as many rounds as are expected to take no time worth a look
	_, contents := x.plainly(longest)
	for _, lowering := range lowerings {
		for _, overrun := range []loop.Overrun{loop.Forbidden, loop.Undone} {
			loopExec, err := loop.Instantiate(x.dev, loop.Loop{
				Body: x.body, Until: loop.Until{Buffer: x.scalar.ID(), Index: 1, Is: ir.Below, Value: -1},
				MaxIterations: longest, CheckEvery: every, Lowering: lowering, Overrun: overrun,
			}, x.trace)
			require.NoError(t, err)
			reached := map[int]bool{}
			for n := 0; ; n++ {
				x.reset()
				result, err := loopExec.Run(&fuse{Context: context.Background(), n: n})
				require.Equal(t, contents[result.Iterations], x.bytes(), "%v, cancelled at look %d after %d iterations", lowering, n, result.Iterations)
				reached[result.Iterations] = true
				if err == nil {
					require.Equal(t, loop.Exhausted, result.Ending)
					break
				}
				require.ErrorIs(t, err, context.Canceled)
				require.Equal(t, loop.Cancelled, result.Ending)
				require.Zero(t, result.Iterations%every, "%v", lowering)
			}
			assert.Contains(t, reached, 0)
			assert.Contains(t, reached, longest)
			assert.Contains(t, reached, every, "%v was never cancelled in the middle", lowering)
			require.NoError(t, loopExec.Close())
		}
	}
	x.close()
}

// TestAWhileNodeThatCanBeCancelledBeginsWithWhatIsExpectedToBeShort checks the iterations at the first call of Observe.
func TestAWhileNodeThatCanBeCancelledBeginsWithWhatIsExpectedToBeShort(t *testing.T) {
	const longest = 13
	x := newLooped(t, program{seed: 5, ops: 4, buffers: 2}, "nimble")
	predicted := x.body.Predicted
	require.Positive(t, predicted)
	for _, c := range []struct {
		predicted time.Duration
		first     int
	}{{time.Duration(predicted), longest}, {time.Millisecond / 4, 4}, {time.Second, 1}} {
		x.body.Predicted = c.predicted.Nanoseconds()
		var told []int
		loopExec, err := loop.Instantiate(x.dev, loop.Loop{
			Body: x.body, Until: loop.Until{Buffer: x.scalar.ID(), Index: 1, Is: ir.Below, Value: -1},
			MaxIterations: longest, CheckEvery: 1, Lowering: loop.WhileNode,
			Observe: func(iterations int) { told = append(told, iterations) },
		}, x.trace)
		require.NoError(t, err)
		x.reset()
		_, err = loopExec.Run(context.Background())
		require.NoError(t, err)
		assert.Equal(t, c.first, told[0], "a body of %v", c.predicted)
		assert.Equal(t, longest, told[len(told)-1])
		require.NoError(t, loopExec.Close())
	}
	x.close()
}

// finished finishes a trace and plans it.
func finished(t *testing.T, tr *tracer.Tracer) (*tracer.Trace, *ir.Schedule) {
	trace, err := tr.Finish()
	require.NoError(t, err)
	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{})
	require.NoError(t, err)
	return trace, plan.Schedule
}

// TestAScalarThatIsNoNumberEndsALoop copies NaN to it in the third iteration.
func TestAScalarThatIsNoNumberEndsALoop(t *testing.T) {
	for _, lowering := range lowerings {
		for _, is := range comparisons {
			dev, err := sim.New(sim.Options{Race: sim.RaceOn})
			require.NoError(t, err)
			tr := tracer.New(dev, "nan", tracer.Deferred)
			a, b, c := tr.Alloc("a", ir.F64, 1, ir.InOut), tr.Alloc("b", ir.F64, 1, ir.InOut), tr.Alloc("c", ir.F64, 1, ir.InOut)
			tr.Copy(a, b)
			tr.Copy(b, c)
			trace, body := finished(t, tr)
			loopExec, err := loop.Instantiate(dev, loop.Loop{
				Body: body, Until: loop.Until{Buffer: a.ID(), Is: is, Value: 5}, MaxIterations: 9, Lowering: lowering,
			}, trace)
			require.NoError(t, err)
			x := 5.0 // does not end a loop until it is below, above or not equal to 5
			if is&ir.Equal != 0 {
				x = 4
				if is == ir.AtMost {
					x = 6
				}
			}
			for buf, v := range map[tracer.Buffer]float64{a: 0, b: x, c: math.NaN()} {
				require.NoError(t, tracer.Write(buf, []float64{v}))
			}
			result, err := loopExec.Run(context.Background())
			require.NoError(t, err)
			assert.Equal(t, loop.NotANumber, result.Ending, "%v %v", lowering, is)
			assert.Equal(t, 2, result.Iterations, "%v %v", lowering, is)
			require.NoError(t, device.Join(loopExec.Close(), trace.Close(), dev.Close()))
		}
	}
}

// TestIntegersEndALoop copies two integers to the scalar, one after the other; some predicates are true of none or of all.
func TestIntegersEndALoop(t *testing.T) {
	dev, err := sim.New(sim.Options{Race: sim.RaceOn})
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(7, 1))
	ended := map[loop.Ending]int{}
	for _, elem := range []ir.Type{ir.I32, ir.U32} {
		tr := tracer.New(dev, "integers", tracer.Deferred)
		a, b, c := tr.Alloc("a", elem, 1, ir.InOut), tr.Alloc("b", elem, 1, ir.InOut), tr.Alloc("c", elem, 1, ir.InOut)
		tr.Copy(a, b)
		tr.Copy(b, c)
		trace, body := finished(t, tr)
		value := func(w uint32) float64 {
			if elem == ir.I32 {
				return float64(int32(w))
			}
			return float64(w)
		}
		words := []uint32{0, 1, 5, math.MaxInt32, 1 << 31, math.MaxUint32}
		for _, is := range comparisons {
			for _, v := range []float64{-1e300, math.MinInt32 - 1, math.MinInt32, -1, 0, 1, 2.5, 5, math.MaxInt32, 1 << 31, math.MaxUint32, 1 << 32} {
				l := loop.Loop{
					Body: body, Until: loop.Until{Buffer: a.ID(), Is: is, Value: v}, MaxIterations: 4, Lowering: loop.WhileNode,
					CheckEvery: 1 + r.IntN(2), Batch: 1,
				}
				loopExec, err := loop.Instantiate(dev, l, trace)
				require.NoError(t, err)
				for range 2 {
					first, second := words[r.IntN(len(words))], words[r.IntN(len(words))]
					for buf, w := range map[tracer.Buffer]uint32{a: 0, b: first, c: second} {
						require.NoError(t, tracer.Write(buf, []uint32{w}))
					}
					result, err := loopExec.Run(context.Background())
					require.NoError(t, err)
					iterations, ending := stop([]float64{0, value(first), value(second), value(second), value(second)}, l)
					ended[ending]++
					what := fmt.Sprintf("%v: %v, then %v, until %v %v, checked every %d", elem, value(first), value(second), is, v, l.CheckEvery)
					require.Equal(t, ending, result.Ending, what)
					require.Equal(t, iterations, result.Iterations, what)
				}
				require.NoError(t, loopExec.Close())
			}
		}
		require.NoError(t, trace.Close())
	}
	assert.Greater(t, ended[loop.Met], 40)
	assert.Greater(t, ended[loop.Exhausted], 40)
	require.NoError(t, dev.Close())
}

// TestAFaultInALoopNamesTheOperationAndTheIterations leaves a buffer in iteration one.
func TestAFaultInALoopNamesTheOperationAndTheIterations(t *testing.T) {
	for _, c := range []struct {
		lowering loop.Lowering
		every    int
		want     string
	}{
		{loop.HostChecked, 1, "loop over fault: iteration 1: "},
		{loop.HostChecked, 4, "loop over fault: one of iterations 1 to 4: "},
		{loop.WhileNode, 4, "loop over fault: one of iterations 1 to 40: "},
	} {
		dev, err := sim.New(sim.Options{Race: sim.RaceOn})
		require.NoError(t, err)
		tr := tracer.New(dev, "fault", tracer.Deferred)
		x := &run{t: t, tr: tr}
		in, out := tr.Alloc("in", ir.F32, 8, ir.Input), tr.Alloc("out", ir.F32, 8, ir.Output)
		tr.Launch(x.kernel("square"), tracer.Linear(1, 32), in, out, 9)
		trace, body := finished(t, tr)
		loopExec, err := loop.Instantiate(dev, loop.Loop{
			Body: body, Until: loop.Until{Buffer: out.ID(), Is: ir.Below}, MaxIterations: 42, CheckEvery: c.every, Lowering: c.lowering,
		}, trace)
		require.NoError(t, err)
		result, err := loopExec.Run(context.Background())
		require.Equal(t, device.IllegalAddress, device.CodeOf(err))
		assert.ErrorContains(t, err, c.want)
		assert.ErrorContains(t, err, "kernel square (square at graphexec/loop_test.go:")
		assert.Zero(t, result.Iterations)
		_ = device.Join(loopExec.Close(), trace.Close(), dev.Close()) // the device is lost
	}
}

// What observes a run may not change or end it: the iterations under way would see half of that.
func TestALoopIsNotChangedWhileItRuns(t *testing.T) {
	for _, lowering := range lowerings {
		x := newLooped(t, program{seed: 5, ops: 4, buffers: 2}, "nimble")
		var loopExec *loop.Exec
		seen := 0
		observe := func(int) {
			seen++
			assert.ErrorContains(t, loopExec.Apply(graphexec.Swap("scalar", "scalar")), "a loop.Exec that is being run", lowering)
			assert.ErrorContains(t, loopExec.Close(), "a loop.Exec that is being run", lowering)
			_, err := loopExec.Run(context.Background())
			assert.ErrorContains(t, err, "a loop.Exec that is being run", lowering)
		}
		var err error
		loopExec, err = loop.Instantiate(x.dev, loop.Loop{
			Body: x.body, Until: loop.Until{Buffer: x.scalar.ID(), Index: 1, Is: ir.Above, Value: 1e9}, Overrun: loop.Undone,
			MaxIterations: 8, CheckEvery: 4, Batch: 2, Lowering: lowering, Observe: observe,
		}, x.trace)
		require.NoError(t, err)
		result, err := loopExec.Run(context.Background())
		require.NoError(t, err)
		assert.Positive(t, seen)
		assert.Equal(t, 8, result.Iterations)
		if result.Lowering == loop.HostChecked {
			assert.Equal(t, 1, result.Batch, "whatever is asked for: it replays one by one")
		}
		require.NoError(t, loopExec.Close())
		x.close()
	}
}

func TestAPredicateThatCannotBeIsRefused(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	tr := tracer.New(dev, "refused", tracer.Deferred)
	from, to := tr.Alloc("from", ir.F64, 4, ir.Input), tr.Alloc("to", ir.F64, 4, ir.Output)
	temp, long := tr.Alloc("temp", ir.F64, 4, ir.Temporary), tr.Alloc("long", ir.U64, 4, ir.Output)
	host := tr.AllocHost("host", ir.F64, 4, ir.Output)
	tr.Copy(to.Slice(0, 2), from.Slice(0, 2))
	tr.Copy(temp, from)
	tr.Copy(host, temp)
	tr.Memset(long, uint32(0))
	traced.Allocate(temp)
	trace, body := finished(t, tr)
	for want, u := range map[string]loop.Until{
		"the graph has no buffer 9":               {Buffer: 9, Is: ir.Below},
		"until @to[4]: the buffer has 4 elements": {Buffer: to.ID(), Index: 4, Is: ir.Below},
		"until @to[0]: comparison(0) is none of":  {Buffer: to.ID()},
		"nothing compares to NaN":                 {Buffer: to.ID(), Is: ir.Below, Value: math.NaN()},
		"no operation of the body writes it":      {Buffer: to.ID(), Index: 2, Is: ir.Below},
		"the buffer is temporary":                 {Buffer: temp.ID(), Is: ir.Below},
		"an element is u64: use f32, f64":         {Buffer: long.ID(), Is: ir.Below},
		"the buffer is in host or managed memory": {Buffer: host.ID(), Is: ir.Below},
	} {
		live := dev.Live()
		_, err := loop.Instantiate(dev, loop.Loop{Body: body, Until: u, MaxIterations: 1}, trace)
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "loop over refused: ")
		assert.Equal(t, live, dev.Live(), want)
	}
	_, err = loop.Instantiate(dev, loop.Loop{Body: body, Until: loop.Until{Buffer: to.ID(), Is: ir.Below}, MaxIterations: -1}, trace)
	assert.ErrorContains(t, err, "MaxIterations is -1; want 0 or more")
	require.NoError(t, device.Join(trace.Close(), dev.Close()))
}

const counting = `
graph counting {
  module m "m.ptx"
  buffer @a f32[64] device(0) inout
  buffer @r f32[1] device(0) inout
  %0 = launch m.step grid(1) block(64) args(@a) uses(readwrite @a)
  %1 = launch m.sum grid(1) block(64) args(@a, @r) uses(read @a, write @r)
}
`

// TestAnyFailedCallOfALoopLeavesNothingBehind lets each device call of loop.Instantiate and
// of a run fail in turn, on a device that runs nothing, so that no scalar is ever below -1.
func TestAnyFailedCallOfALoopLeavesNothingBehind(t *testing.T) {
	s := plan(t, counting, "serial")
	for _, lowering := range []loop.Lowering{loop.Auto, loop.HostChecked, loop.Unrolled} {
		for n := 0; ; n++ {
			plain := null.New()
			b := bind(t, plain, s.Graph)
			before := plain.Live()
			armed := wrap.FailCall(n, device.OutOfMemory)
			calls := 0
			dev := wrap.Faults(plain, func(call int, method string) device.Code {
				calls = call
				if method == "Free" || strings.HasPrefix(method, "Destroy") {
					return 0 // would leave what it was to free
				}
				return armed(call, method)
			})
			loopExec, err := loop.Instantiate(dev, loop.Loop{
				Body: s, Until: loop.Until{Buffer: 1, Is: ir.Below, Value: -1},
				MaxIterations: 5, CheckEvery: 2, Lowering: lowering, Overrun: loop.Undone,
			}, b)
			if err == nil {
				_, err = loopExec.Run(context.Background())
				armed = func(int, string) device.Code { return 0 }
				require.NoError(t, loopExec.Close())
			}
			require.Equal(t, before, plain.Live(), "after call %d failed", n)
			if calls < n {
				require.NoError(t, err)
				require.Greater(t, n, 20, "hardly a call was made")
				break
			}
			if err != nil {
				require.Equal(t, device.OutOfMemory, device.CodeOf(err), "call %d: %v", n, err)
			}
		}
	}
}

func TestChangesOfLoopsLeaveTheBytesOfChangedPrograms(t *testing.T) {
	seeds := uint64(24)
	if testing.Short() {
		seeds = 8
	}
	graphexectest.Loops(t, func() device.Device {
		dev, err := sim.New(sim.Options{Memo: sim.MemoOff, Race: sim.RaceOn})
		require.NoError(t, err)
		return dev
	}, seeds)
}

// TestALoopRefusesWhatItsPlanCannotBeChangedTo switches off what writes the scalar, and frees a buffer.
func TestALoopRefusesWhatItsPlanCannotBeChangedTo(t *testing.T) {
	s := plan(t, counting, "serial")
	for _, lowering := range []loop.Lowering{loop.HostChecked, loop.Unrolled} {
		dev := null.New()
		b := bind(t, dev, s.Graph)
		loopExec, err := loop.Instantiate(dev, loop.Loop{
			Body: s, Until: loop.Until{Buffer: 1, Is: ir.Below, Value: -1}, MaxIterations: 4, CheckEvery: 2, Batch: 2 - int(lowering)%2, Lowering: lowering,
		}, b)
		require.NoError(t, err)
		err = loopExec.Apply(graphexec.Enable("sum", false))
		assert.EqualError(t, err, "loop over counting: until @r[0] below -1: no operation of the body writes it, so that the loop would not end by it")
		assert.ErrorContains(t, loopExec.Apply(graphexec.Swap("a", "r")), "loop over counting: buffers @a and @r cannot change places: they have 256 and 4 bytes")
		assert.Zero(t, loopExec.Stats().Updates)
		require.NoError(t, loopExec.Apply(graphexec.Enable("step", false)))
		verdicts, err := loopExec.Preflight(graphexec.Enable("step", true))
		require.NoError(t, err)
		assert.Len(t, verdicts, 1)
		require.NoError(t, dev.Free(b.buffers[0]))
		_, err = loopExec.Run(context.Background())
		require.EqualError(t, err, "loop over counting: buffer @a was freed, or moved, after it was bound: close its trace after the Exec, bind it to other memory with Rebind, or instantiate again")
		p, err := dev.Alloc(256)
		require.NoError(t, err)
		require.NoError(t, loopExec.Apply(graphexec.Rebind("a", p)))
		_, err = loopExec.Run(context.Background())
		require.NoError(t, err)
		require.NoError(t, loopExec.Close())
		assert.ErrorContains(t, loopExec.Set("x", 1), "closed")
	}
}

// TestAFailedChangeOfALoopChangesNothing lets each device call of a change fail in turn, and looks at where the next run goes.
func TestAFailedChangeOfALoopChangesNothing(t *testing.T) {
	for _, lowering := range []loop.Lowering{loop.HostChecked, loop.Unrolled, loop.WhileNode} {
		refused := 0
		for n := 1; ; n++ {
			plain, err := sim.New(sim.Options{Race: sim.RaceOn})
			require.NoError(t, err)
			calls, armed, together := 0, false, false
			dev := wrap.Faults(plain, func(_ int, method string) device.Code {
				if !armed || strings.HasPrefix(method, "Free") || strings.HasPrefix(method, "Destroy") {
					return 0
				}
				if calls++; calls == n || calls == n+1 && together { // which is tried again one by one
					together = method == "UpdateNodes"
					return device.OutOfMemory
				}
				return 0
			})
			tr := tracer.New(dev, "failing", tracer.Deferred)
			x := &run{t: t, tr: tr}
			var s [2]tracer.Buffer
			for i, name := range []string{"r", "other"} {
				s[i] = tr.Alloc(name, ir.F32, 1, ir.InOut)
			}
			tr.Launch(x.kernel("unsharpen"), tracer.Linear(1, 32), s[0], s[1], s[0], tr.Param("amount", ir.F32, 1), 1) // twice what it was, less the other, between 0 and 1
			trace, body := finished(t, tr)
			loopExec, err := loop.Instantiate(dev, loop.Loop{
				Body: body, Until: loop.Until{Buffer: s[0].ID(), Is: ir.AtLeast, Value: 1}, MaxIterations: 3, CheckEvery: 2, Batch: 2,
				Lowering: lowering, Overrun: loop.Undone,
			}, trace)
			require.NoError(t, err)
			require.NoError(t, tracer.Write(s[0], []float32{0.2}))
			require.NoError(t, tracer.Write(s[1], []float32{0}))
			armed = true
			err = loopExec.Apply(graphexec.Swap("r", "other"))
			armed = false
			result, failed := loopExec.Run(context.Background())
			require.NoError(t, failed)
			switch {
			case err == nil: // none failed, or there was another way
				require.Equal(t, loop.Exhausted, result.Ending, "twice 0, less 0.2")
			default:
				require.Equal(t, device.OutOfMemory, device.CodeOf(err), "%v, call %d: %v", lowering, n, err)
				require.Equal(t, loop.Met, result.Ending, "%v, call %d failed", lowering, n)
				refused++
			}
			require.NoError(t, device.Join(loopExec.Close(), trace.Close(), dev.Close()))
			if calls < n {
				assert.Positive(t, refused, "%v", lowering)
				break
			}
		}
	}
}

// TestIterationsOverlapWhereTheirScheduleSaysSo has a chain behind the scalar that the next iteration need not wait for.
func TestIterationsOverlapWhereTheirScheduleSaysSo(t *testing.T) {
	dev, err := sim.New(sim.Options{Race: sim.RaceOn})
	require.NoError(t, err)
	tr := tracer.New(dev, "chain", tracer.Deferred)
	x := &run{t: t, tr: tr}
	scalar, low, a, b := tr.Alloc("scalar", ir.F32, 1, ir.InOut), tr.Alloc("low", ir.F32, 1, ir.Input), tr.Alloc("a", ir.F32, 1, ir.InOut), tr.Alloc("b", ir.F32, 1, ir.InOut)
	one, square := tracer.Linear(1, 32), x.kernel("square")
	tr.Launch(x.kernel("unsharpen"), one, scalar, low, scalar, tr.Param("amount", ir.F32, 0.01), 1)
	tr.Launch(square, one, scalar, a, 1)
	tr.Launch(square, one, a, b, 1)
	tr.Launch(square, one, b, b, 1)
	trace, body := finished(t, tr)
	several := func(n int) (*ir.Schedule, error) {
		plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Also: []string{fmt.Sprintf("unroll(%d)", n)}, Verify: true})
		return plan.Schedule, err
	}
	for _, lowering := range []loop.Lowering{loop.Unrolled, loop.WhileNode} {
		var took [2]time.Duration
		var left [2]float32
		for i := range took {
			l := loop.Loop{
				Body: body, Until: loop.Until{Buffer: scalar.ID(), Is: ir.AtLeast, Value: 2},
				MaxIterations: 64, CheckEvery: 16, Batch: 16, Lowering: lowering, Overrun: loop.Harmless,
			}
			if i == 1 {
				l.Several = several
			}
			loopExec, err := loop.Instantiate(dev, l, trace)
			require.NoError(t, err)
			require.NoError(t, tracer.Write(scalar, []float32{0.5}))
			require.NoError(t, tracer.Write(low, []float32{0.2}))
			start := dev.Now()
			_, err = loopExec.Run(context.Background())
			require.NoError(t, err)
			took[i] = dev.Now() - start
			var data [1]float32
			require.NoError(t, tracer.Read(data[:], b))
			left[i] = data[0]
			require.NoError(t, loopExec.Close())
		}
		assert.Equal(t, left[0], left[1])
		assert.Less(t, took[1], took[0]*8/10, "%v: %v one after another, %v overlapping", lowering, took[0], took[1])
	}
	for want, wrong := range map[string]func(n int) (*ir.Schedule, error){
		"it has 8 operations, and an iteration of chain has 4: want those of 3 iterations, or of a divisor": func(int) (*ir.Schedule, error) { return several(2) },
		"no time": func(int) (*ir.Schedule, error) { return nil, errors.New("no time") },
	} {
		_, err := loop.Instantiate(dev, loop.Loop{
			Body: body, Until: loop.Until{Buffer: scalar.ID(), Is: ir.AtLeast, Value: 2},
			MaxIterations: 64, CheckEvery: 3, Batch: 3, Lowering: loop.Unrolled, Several: wrong,
		}, trace)
		assert.ErrorContains(t, err, "loop over chain: unrolled: a schedule of several iterations: "+want)
	}
	require.NoError(t, device.Join(trace.Close(), dev.Close()))
}

// trap counts, and leaves its buffer when it has come to seven.
const trap = `
.version 6.0
.target sm_52
.address_size 64
.visible .entry trap(.param .u64 count)
{
	.reg .pred %p<2>;
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [count];
	cvta.to.global.u64 %rd1, %rd1;
	ld.global.u32 %r1, [%rd1];
	add.u32 %r1, %r1, 1;
	setp.eq.u32 %p1, %r1, 7;
	@%p1 mov.u64 %rd1, 0;
	st.global.u32 [%rd1], %r1;
	ret;
}
`

// TestAFaultInTheMiddleOfALoop happens in the seventh iteration, whichever way the loop goes round.
func TestAFaultInTheMiddleOfALoop(t *testing.T) {
	for _, c := range []struct {
		lowering loop.Lowering
		overrun  loop.Overrun
		want     string
		seen     int // iterations whose end the host had seen
	}{
		{loop.HostChecked, loop.Forbidden, "loop over trap: one of iterations 5 to 8: ", 4},
		{loop.HostChecked, loop.Harmless, "loop over trap: one of iterations 1 to 8: ", 0},
		{loop.Unrolled, loop.Forbidden, "loop over trap: one of iterations 5 to 8: ", 4},
		{loop.Unrolled, loop.Undone, "loop over trap: one of iterations 1 to 8: ", 0},
		{loop.WhileNode, loop.Forbidden, "loop over trap: one of iterations 1 to 20: ", 0},
	} {
		dev, err := sim.New(sim.Options{Race: sim.RaceOn})
		require.NoError(t, err)
		tr := tracer.New(dev, "trap", tracer.Deferred)
		count := tr.Alloc("count", ir.U32, 1, ir.InOut)
		tr.Launch(tr.Module("trap.ptx", trap).Kernel("trap"), tracer.Linear(1, 1), count)
		trace, body := finished(t, tr)
		loopExec, err := loop.Instantiate(dev, loop.Loop{
			Body: body, Until: loop.Until{Buffer: count.ID(), Is: ir.Above, Value: 9}, MaxIterations: 20, CheckEvery: 4, Batch: 4,
			Lowering: c.lowering, Overrun: c.overrun,
		}, trace)
		require.NoError(t, err)
		require.NoError(t, tracer.Write(count, []uint32{0}))
		result, err := loopExec.Run(context.Background())
		require.Equal(t, device.IllegalAddress, device.CodeOf(err), "%v", err)
		assert.ErrorContains(t, err, c.want, "%v %v", c.lowering, c.overrun)
		assert.ErrorContains(t, err, "kernel trap (trap at graphexec/loop_test.go:")
		assert.Equal(t, c.seen, result.Iterations, "%v %v", c.lowering, c.overrun)
		t.Log(err)
		_ = device.Join(loopExec.Close(), trace.Close(), dev.Close()) // the device is lost
	}
}
