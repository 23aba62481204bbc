package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestOperationsHaveLabels names operations of every kind, also of equal launches, and in bodies.
func TestOperationsHaveLabels(t *testing.T) {
	tr := tracer.New(null.New(), "g", tracer.Deferred)
	x := tr.Alloc("x", ir.F32, 64, ir.InOut)
	y := tr.Alloc("y", ir.F32, 64, ir.InOut)
	k := load(t, tr, "square")
	square := func() tracer.Op { return tr.Launch(k, tracer.Linear(1, 64), x, y, 64) }
	tr.Memset(x, 0).Named("clear")
	square()
	square().Named("second")
	square().Named("third").Named("last")
	tr.Copy(x, y).Named("back")
	tr.Loop(x.Slice(0, 1), ir.Above, 1, tracer.Limits{Iterations: 3}, func() {
		square().Named("inner")
		tr.Copy(x, y)
	}).Named("solve")
	trace, err := tr.Finish()
	require.NoError(t, err)
	defer trace.Close()
	var labels []string
	for _, op := range trace.Graph.Ops {
		labels = append(labels, op.Label)
	}
	assert.Equal(t, []string{"clear", "", "second", "last", "back", "solve"}, labels)
	body := trace.Graph.Ops[5].Control.Bodies[0]
	assert.Equal(t, "inner", body.Ops[0].Label)
	assert.Equal(t, "", body.Ops[1].Label)
}

// TestBadLabels refuses labels that are numbers, and those that come too late. Calls that are not recorded have none.
func TestBadLabels(t *testing.T) {
	for _, c := range []struct {
		name func(tr *tracer.Tracer, x tracer.Buffer)
		want string
	}{
		{func(tr *tracer.Tracer, x tracer.Buffer) { tr.Memset(x, 0).Named("") }, `an operation is named "": use a label that is not empty`},
		{func(tr *tracer.Tracer, x tracer.Buffer) { tr.Memset(x, 0).Named("%1") }, `an operation is named "%1": use a label that is not empty and does not begin with %`},
		{func(tr *tracer.Tracer, x tracer.Buffer) {
			var inner tracer.Op
			tr.Loop(x.Slice(0, 1), ir.Above, 1, tracer.Limits{Iterations: 3}, func() { inner = tr.Memset(x, 0) })
			inner.Named("late")
		}, `operation "late" of a body is named after the body has ended: name it inside`},
	} {
		tr := tracer.New(null.New(), "g", tracer.Deferred)
		c.name(tr, tr.Alloc("x", ir.F32, 64, ir.InOut))
		_, err := tr.Finish()
		assert.ErrorContains(t, err, c.want)
	}
	tr := tracer.New(null.New(), "g", tracer.Direct)
	tr.Memset(tr.Alloc("x", ir.F32, 64, ir.InOut), 0).Named("%ignored")
	tracer.Op{}.Named("%ignored")
	trace, err := tr.Finish()
	require.NoError(t, err)
	require.NoError(t, trace.Close())
}
