package graphexec_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestAutoIsAsQuickAsTheBest compares the virtual time that a loop takes, from its
// instantiation to its end, with that of each lowering. Measuring costs a little of it.
func TestAutoIsAsQuickAsTheBest(t *testing.T) {
	const measuring = 100 * time.Microsecond
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	chosen := map[loop.Lowering]int{}
	for _, ops := range []int{1, 5, 40} {
		tr := tracer.New(dev, "squares", tracer.Deferred)
		a, b := tr.Alloc("a", ir.F32, 64, ir.InOut), tr.Alloc("b", ir.F32, 64, ir.InOut)
		square := (&run{t: t, tr: tr}).kernel("square")
		for range ops {
			tr.Launch(square, tracer.Linear(1, 64), a, b, 64)
			a, b = b, a
		}
		trace, body := finished(t, tr)
		for _, every := range []int{1, 16} {
			for _, most := range []int{20, 500} {
				for _, over := range []loop.Overrun{loop.Forbidden, loop.Harmless} {
					took := map[loop.Lowering]time.Duration{}
					for _, lowering := range lowerings {
						start := dev.Now()
						loopExec, err := loop.Instantiate(dev, loop.Loop{
							Body: body, Until: loop.Until{Buffer: a.ID(), Is: ir.Below, Value: -1},
							MaxIterations: most, CheckEvery: every, Overrun: over, Lowering: lowering,
						}, trace)
						require.NoError(t, err)
						result, err := loopExec.Run(context.Background())
						require.NoError(t, err)
						took[lowering] = dev.Now() - start
						if lowering == loop.Auto {
							chosen[result.Lowering]++
							assert.Regexp(t, `^expected overhead of \d+ iterations: .*while .* \(batch \d+\); launching a graph takes`, result.Why)
						}
						require.NoError(t, loopExec.Close())
					}
					best := min(took[loop.HostChecked], took[loop.Unrolled], took[loop.WhileNode])
					assert.LessOrEqual(t, took[loop.Auto], best+best/20+measuring,
						"%d operations, checked every %d, %d iterations, overrun %v: %v", ops, every, most, over, took)
				}
			}
		}
		require.NoError(t, trace.Close())
	}
	assert.Len(t, chosen, 3, "one lowering is never the best")
	require.NoError(t, dev.Close())
}

// TestWithoutConditionalNodesAutoSaysSo takes a loop that a while node would be best for to a
// device that has none.
func TestWithoutConditionalNodesAutoSaysSo(t *testing.T) {
	s := plan(t, counting, "serial")
	dev := null.New()
	loopExec, err := loop.Instantiate(dev, loop.Loop{
		Body: s, Until: loop.Until{Buffer: 1, Is: ir.Below, Value: -1}, MaxIterations: 1 << 30,
	}, bind(t, dev, s.Graph))
	require.NoError(t, err)
	live, ctx := dev.Live(), &fuse{Context: context.Background(), n: 4}
	result, err := loopExec.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, loop.HostChecked, result.Lowering)
	assert.Contains(t, result.Why, "; a while node: device null has no conditional nodes")
	assert.Equal(t, live, dev.Live())
	assert.Equal(t, 1, live.Graphs, "what was begun of the while node is gone")
	require.NoError(t, loopExec.Close())
}

func TestNumbersOfALoopThatCannotBeAreRefused(t *testing.T) {
	s := plan(t, counting, "serial")
	dev := null.New()
	b := bind(t, dev, s.Graph)
	for want, l := range map[string]loop.Loop{
		"MaxIterations is -1; want 0 or more":                      {MaxIterations: -1},
		"CheckEvery is -2 and Expected 0; want 0 or more":          {CheckEvery: -2},
		"lowering(9) is none of Auto, HostChecked":                 {Lowering: 9},
		"overrun(7) is none of Forbidden, Undone":                  {Overrun: 7},
		"a batch of 4 iterations, checked every 6: want a divisor": {CheckEvery: 6, Batch: 4},
		"a batch of -1 iterations, checked every 6: want":          {CheckEvery: 6, Batch: -1},
		"a batch of 6 iterations is longer than CheckEvery (3)":    {CheckEvery: 3, Batch: 6, Lowering: loop.Unrolled},
	} {
		l.Body, l.Until = s, loop.Until{Buffer: 1, Is: ir.Below}
		before := dev.Live()
		_, err := loop.Instantiate(dev, l, b)
		assert.ErrorContains(t, err, "loop over counting: "+want)
		assert.Equal(t, before, dev.Live())
	}
}

// TestNumbersOfALoopMayBeGreat has a scalar that is 1 from the fifth iteration on: 0.2 + 0.3·1.25^i, as far as that is below 1.
func TestNumbersOfALoopMayBeGreat(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	tr := tracer.New(dev, "great", tracer.Deferred)
	scalar, low := tr.Alloc("scalar", ir.F32, 1, ir.InOut), tr.Alloc("low", ir.F32, 1, ir.Input)
	tr.Launch((&run{t: t, tr: tr}).kernel("unsharpen"), tracer.Linear(1, 32), scalar, low, scalar, tr.Param("amount", ir.F32, 0.25), 1)
	trace, body := finished(t, tr)
	for _, lowering := range lowerings {
		for _, overrun := range []loop.Overrun{loop.Forbidden, loop.Undone, loop.Harmless} {
			for _, c := range []struct{ every, most, expected, iterations int }{
				{1, math.MaxInt, 20, 5},
				{7, math.MaxInt, 20, 7},
				{7, math.MaxInt, math.MaxInt, 7},
				{1 << 31, 20, 0, 20},
				{math.MaxInt, 20, 0, 20},
				{math.MaxInt - 1, 0, 0, 0},
				{math.MaxInt, math.MaxInt, 0, -1}, // is not run
			} {
				l := loop.Loop{
					Body: body, Until: loop.Until{Buffer: scalar.ID(), Is: ir.AtLeast, Value: 1},
					MaxIterations: c.most, CheckEvery: c.every, Expected: c.expected, Lowering: lowering, Overrun: overrun,
				}
				loopExec, err := loop.Instantiate(dev, l, trace)
				if c.iterations < 0 && lowering == loop.WhileNode {
					require.ErrorContains(t, err, "rounds, and a launch has at most 1048576: set CheckEvery or Batch")
					continue
				}
				require.NoError(t, err, describe(0, l))
				if c.iterations >= 0 {
					require.NoError(t, tracer.Write(scalar, []float32{0.5}))
					require.NoError(t, tracer.Write(low, []float32{0.2}))
					result, err := loopExec.Run(context.Background())
					require.NoError(t, err)
					require.Equal(t, c.iterations, result.Iterations, describe(0, l))
					require.NotContains(t, result.Why, " -", "no cost is negative")
				}
				require.NoError(t, loopExec.Close())
			}
		}
	}
	require.NoError(t, device.Join(trace.Close(), dev.Close()))
}
