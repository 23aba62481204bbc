package tracer_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// queue holds all calls back until it is flushed.
type queue struct {
	run    traced.Runner
	held   []*calls.Call
	events []string
}

func newWatched(dev device.Device, name string, watch func(traced.Runner) traced.Sink) *tracer.Tracer {
	return traced.Watch(dev, name, watch).(*tracer.Tracer)
}

func newQueue(run traced.Runner) traced.Sink { return &queue{run: run} }

func (q *queue) Take(c *calls.Call) *calls.Call {
	if q.run.Check(c) {
		q.held = append(q.held, c)
		q.events = append(q.events, "take")
	}
	return &calls.Call{}
}

func (q *queue) Flush() *calls.Call {
	q.events = append(q.events, "flush")
	for _, c := range q.held {
		q.run.Run(c)
	}
	q.held = nil
	return &calls.Call{}
}

func (q *queue) Order() error { q.events = append(q.events, "order"); return nil }
func (q *queue) Wait() error  { q.events = append(q.events, "wait"); return nil }
func (q *queue) Close() error { q.events = append(q.events, "close"); return nil }

// A Sink that holds calls back is flushed before anything can observe their results, and the device
// receives the same calls.
func TestASinkSeesWhatAProgramDoes(t *testing.T) {
	transcript := func(start func(device.Device) *tracer.Tracer) (string, *tracer.Tracer) {
		var log strings.Builder
		tr := start(wrap.Logging(null.New(), &log))
		everyCall(t, tr)
		trace, err := tr.Finish()
		require.NoError(t, err)
		require.NoError(t, trace.Close())
		return strings.ReplaceAll(log.String(), "Synchronize(stream1)\n", ""), tr // a Sink waits instead, and this one does not
	}
	direct, plain := transcript(func(d device.Device) *tracer.Tracer { return tracer.New(d, "p", tracer.Direct) })
	sunk, watched := transcript(func(d device.Device) *tracer.Tracer { return newWatched(d, "p", newQueue) })
	assert.Nil(t, traced.SinkOf(plain))
	events := strings.Join(traced.SinkOf(watched).(*queue).events, " ")
	const iteration = " take take take take take flush order order order order order" // the fill of nothing is no work
	assert.Equal(t, "flush flush flush flush"+iteration+iteration+" flush wait close", events, "it is flushed at the start and for each allocation")
	assert.Equal(t, direct, sunk)
}

// Checks and errors name the line of the call, also where the call runs later.
func TestErrorsOfCallsThatRunLaterNameTheirLines(t *testing.T) {
	dev := wrap.Faults(null.New(), func(_ int, method string) device.Code {
		if method == "Submit" {
			return device.OutOfMemory
		}
		return 0
	})
	tr := newWatched(dev, "held", newQueue)
	x := tr.Alloc("x", ir.F32, 64, ir.InOut)
	_, _, line, _ := runtime.Caller(0)
	tr.Memset(x, 1)
	require.NoError(t, tr.Err())
	tr.Synchronize()
	require.ErrorContains(t, tr.Err(), fmt.Sprintf("tracer/sink_test.go:%d: trace held: ", line+1))
	_, err := tr.Finish()
	require.Equal(t, device.OutOfMemory, device.CodeOf(err))
}

// An excerpt holds the calls that were made, with parameters in place of some scalars.
func TestAnExcerptIsATraceOfSomeCalls(t *testing.T) {
	tr := newWatched(null.New(), "p", newQueue)
	square := load(t, tr, "square")
	x := tr.Alloc("x", ir.F32, 64, ir.Input)
	y := tr.Alloc("y", ir.F32, 64, ir.Temporary)
	tr.Launch(square, tracer.Linear(2, 32), x.Slice(0, 32), y, 20)
	tr.Copy(y, x)
	q := traced.SinkOf(tr).(*queue)
	list := []calls.Call{*q.held[1], *q.held[0]}
	list[1].Operands = slices.Clone(list[1].Operands)
	list[1].Operands[2].Kind = ir.ArgParam
	excerpt, err := q.run.Excerpt(list)
	require.NoError(t, err)
	assert.Equal(t, `graph p {
  module square "square.ptx"
  param $square_1_2 i32 = 20
  buffer @x f32[64] device(0) inout
  buffer @y f32[64] device(0) inout
  %0 = copy @x -> @y
  %1 = launch square.square grid(2) block(32) args(@x, @y, $square_1_2) uses(read @x[0:128], write @y)
}
`, body(excerpt.(*tracer.Trace).Graph))
	_, err = tr.Finish()
	require.NoError(t, err)
}
