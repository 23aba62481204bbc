package tracer_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// launcher hides a tracer behind an interface, so that calls go through a wrapper that the compiler makes.
type launcher interface {
	Launch(k *tracer.Kernel, s tracer.Shape, args ...any) tracer.Op
}

type embedding struct {
	name string // the tracer is not the first field: the wrapper has to add to the receiver
	*tracer.Tracer
}

// A launch has the line of the program however Launch is called, also the second time, when the return
// address is in the cache.
func TestLaunchesHaveTheLineOfTheirCall(t *testing.T) {
	tr := tracer.New(null.New(), "lines", tracer.Deferred)
	square := load(t, tr, "square")
	x := tr.Alloc("x", ir.F32, 32, ir.Input)
	y := tr.Alloc("y", ir.F32, 32, ir.Output)
	shape := tracer.Linear(1, 32)
	inlined := func() { tr.Launch(square, shape, x, y, 32) }
	_, _, inlinedLine, _ := runtime.Caller(0) // the line after
	var wrapped launcher = embedding{"wrapped", tr}
	value := wrapped.Launch
	method := tr.Launch
	var want []int
	_, _, line, _ := runtime.Caller(0)
	for range 3 {
		tr.Launch(square, shape, x, y, 32)
		wrapped.Launch(square, shape, x, y, 32)
		value(square, shape, x, y, 32)
		method(square, shape, x, y, 32)
		inlined()
		func() {
			defer tr.Launch(square, shape, x, y, 32)
		}()
		want = append(want, line+2, line+3, line+4, line+5, inlinedLine-1, line+9)
	}
	trace, err := tr.Finish()
	require.NoError(t, err)
	var got []int
	for _, op := range trace.Graph.Ops {
		got = append(got, op.Pos.Line)
	}
	assert.Equal(t, want, got)
}
