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

// TestOperationsAreOrderedByHand declares orders that no access requires. They must be in the graph and in its text.
func TestOperationsAreOrderedByHand(t *testing.T) {
	tr := tracer.New(null.New(), "g", tracer.Deferred)
	var x [3]tracer.Buffer
	for i := range x {
		x[i] = tr.Alloc("x", ir.F32, 64, ir.InOut)
	}
	first := tr.Memset(x[0], 0)
	second := tr.Memset(x[1], 0).After(tracer.Op{})
	tr.Memset(x[2], 0).After(second, first, second)
	tr.Loop(x[0].Slice(0, 1), ir.Above, 1, tracer.Limits{Iterations: 3}, func() {
		inner := tr.Memset(x[0], 1)
		tr.Memset(x[1], 1).After(inner)
	})
	trace, err := tr.Finish()
	require.NoError(t, err)
	defer trace.Close()
	require.Equal(t, []ir.OpID{0, 1}, trace.Graph.Ops[2].After)
	assert.Empty(t, trace.Graph.Ops[1].After)
	assert.Equal(t, []ir.OpID{0}, trace.Graph.Ops[3].Control.Bodies[0].Ops[1].After)
	assert.Contains(t, ir.Print(trace.Graph), "after(%0, %1)")
}

// TestBadOrders refuses orders that cannot be.
func TestBadOrders(t *testing.T) {
	other := tracer.New(null.New(), "other", tracer.Deferred)
	foreign := other.Memset(other.Alloc("x", ir.F32, 64, ir.InOut), 0)
	for _, c := range []struct {
		order func(tr *tracer.Tracer, x tracer.Buffer)
		want  string
	}{
		{func(tr *tracer.Tracer, x tracer.Buffer) { op := tr.Memset(x, 0); op.After(op) }, "%0 is ordered behind %0, which is not earlier: record it first"},
		{func(tr *tracer.Tracer, x tracer.Buffer) { tr.Memset(x, 0).After(foreign) }, "%0 is ordered behind an operation of another trace"},
		{func(tr *tracer.Tracer, x tracer.Buffer) {
			outer := tr.Memset(x, 0)
			tr.Loop(x.Slice(0, 1), ir.Above, 1, tracer.Limits{Iterations: 3}, func() { tr.Memset(x, 0).After(outer) })
		}, "%0 is ordered behind an operation of another body"},
		{func(tr *tracer.Tracer, x tracer.Buffer) {
			var inner tracer.Op
			tr.Loop(x.Slice(0, 1), ir.Above, 1, tracer.Limits{Iterations: 3}, func() { inner = tr.Memset(x, 0) })
			inner.After()
		}, "an operation of a body is ordered after the body has ended: order it inside"},
	} {
		tr := tracer.New(null.New(), "g", tracer.Deferred)
		c.order(tr, tr.Alloc("x", ir.F32, 64, ir.InOut))
		_, err := tr.Finish()
		assert.ErrorContains(t, err, c.want)
	}
}
