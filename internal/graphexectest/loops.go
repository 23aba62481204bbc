package graphexectest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// scalar returns the scalar of the loop's condition.
func (p *program) scalar() tracer.Buffer { return p.buffers[p.stage()-1].Slice(1, 2) }

// Loops runs loops over random programs in every lowering, with random changes between runs, and makes the changed
// calls one by one on another device. It requires that both leave the same bytes after the same number of iterations.
// seeds is the number of programs. open returns a new device, which Loops closes.
func Loops(t *testing.T, open func() device.Device, seeds uint64) {
	var done loop.Stats
	overlap := 0
	for seed := range seeds {
		for _, lowering := range []loop.Lowering{loop.HostChecked, loop.Unrolled, loop.WhileNode} {
			x := newChangedLoop(t, open, seed, lowering)
			x.run()
			s := x.loop.Stats()
			done.Iterations, done.Updates, done.Overrun = done.Iterations+s.Iterations, done.Updates+s.Updates, done.Overrun+s.Overrun
			overlap += x.overlap
			x.close()
		}
	}
	require.Positive(t, done.Updates)
	require.Positive(t, done.Iterations)
	require.Positive(t, done.Overrun)
	require.Positive(t, overlap, "no graph was a schedule of several iterations")
}

// changedLoop is a loop, and a program that makes its calls one by one.
type changedLoop struct {
	t         *testing.T
	what      string
	r         *rand.Rand
	dev       [2]device.Device // for the calls made one by one, and for the loop
	want, got *program
	trace     *tracer.Trace
	until     loop.Loop
	loop      *loop.Exec
	m         *mutator
	overlap   int // number of schedules of several iterations
}

func newChangedLoop(t *testing.T, open func() device.Device, seed uint64, lowering loop.Lowering) *changedLoop {
	x := &changedLoop{t: t, r: rand.New(rand.NewPCG(seed, 4)), dev: [2]device.Device{open(), open()}}
	x.want, x.got = start(t, x.dev[0], tracer.Eager, seed), start(t, x.dev[1], tracer.Deferred, seed)
	x.want.loop, x.got.loop = true, true
	x.got.run()
	var err error
	x.trace, err = x.got.tr.Finish()
	require.NoError(t, err)
	strategies := optimizer.Strategies()
	strategy := strategies[int(seed)%len(strategies)].Name
	plan, err := optimizer.Plan(x.trace.Graph, optimizer.Options{Strategy: strategy, Verify: true})
	require.NoError(t, err)
	every := 1 + x.r.IntN(4)
	l := loop.Loop{
		Body: plan.Schedule, Lowering: lowering, Backend: graphexec.Backends()[x.r.IntN(2)], CheckEvery: every, Batch: every, MaxIterations: 3 + x.r.IntN(8),
		Until: loop.Until{
			Buffer: x.got.scalar().ID(), Index: 1, Value: x.r.Float64(),
			Is: []ir.Comparison{ir.Below, ir.AtMost, ir.AtLeast, ir.Above}[x.r.IntN(4)],
		},
		Overrun: []loop.Overrun{loop.Forbidden, loop.Undone}[x.r.IntN(2)],
	}
	if lowering == loop.Unrolled && l.Overrun == loop.Undone {
		l.Batch *= 1 + x.r.IntN(4)
	}
	if x.r.IntN(2) == 0 {
		l.Several = func(n int) (*ir.Schedule, error) {
			x.overlap++
			if n%2 == 0 && seed%2 == 0 {
				n /= 2
			}
			plan, err := optimizer.Plan(x.trace.Graph, optimizer.Options{Strategy: strategy, Verify: true, Also: []string{fmt.Sprintf("unroll(%d)", n)}})
			return plan.Schedule, err
		}
	}
	x.what = fmt.Sprintf("seed %d, %v by %d, checked every %d, at most %d, overrun %v", seed, lowering, l.Batch, l.CheckEvery, l.MaxIterations, l.Overrun)
	x.until = l
	x.loop, err = loop.Instantiate(x.dev[1], l, x.trace)
	require.NoError(t, err, x.what)
	x.m = &mutator{r: x.r, want: x.want, got: x.got, dev: x.dev[1], ops: x.trace.Graph.Ops, own: x.got.places(x.trace)}
	return x
}

func (x *changedLoop) run() {
	for step := range 4 {
		var list []graphexec.Change
		var models []func()
		for range x.r.IntN(4) {
			c, model, _ := x.m.change()
			list, models = append(list, c), append(models, model)
		}
		_, refused := x.loop.Preflight(list...)
		err := x.loop.Apply(list...)
		require.Equal(x.t, refused == nil, err == nil, "%s, step %d: %v and %v", x.what, step, refused, err)
		if err == nil {
			for _, model := range models {
				model()
			}
		}
		iterations, ending := x.plainly()
		result, err := x.loop.Run(context.Background())
		require.NoError(x.t, err)
		require.Equal(x.t, iterations, result.Iterations, "%s, step %d after %v", x.what, step, list)
		require.Equal(x.t, ending, result.Ending, "%s, step %d after %v", x.what, step, list)
		require.Equal(x.t, x.want.read(), x.m.read(), "%s, step %d after %v", x.what, step, list)
	}
}

// plainly makes the calls of each iteration one by one and evaluates the condition after each iteration that is
// checked. It returns the number of iterations and why they ended.
func (x *changedLoop) plainly() (int, loop.Ending) {
	l := &x.until
	for i := 1; i <= l.MaxIterations; i++ {
		x.want.run()
		if i%l.CheckEvery != 0 && i != l.MaxIterations {
			continue
		}
		var value [1]float32
		require.NoError(x.t, tracer.Read(value[:], x.want.scalar()))
		v, limit := float64(value[0]), l.Until.Value
		if math.IsNaN(v) {
			return i, loop.NotANumber
		}
		if v < limit && l.Until.Is&ir.Below != 0 || v == limit && l.Until.Is&ir.Equal != 0 || v > limit && l.Until.Is&ir.Above != 0 {
			return i, loop.Met
		}
	}
	return l.MaxIterations, loop.Exhausted
}

func (x *changedLoop) close() {
	require.NoError(x.t, x.loop.Close())
	finished, err := x.want.tr.Finish()
	require.NoError(x.t, err)
	for _, p := range x.m.fresh {
		require.NoError(x.t, x.dev[1].Free(p))
	}
	require.NoError(x.t, device.Join(finished.Close(), x.trace.Close(), x.dev[0].Close(), x.dev[1].Close()))
}
