package graphexec_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestMissingArgumentsAreErrors leaves out arguments that there must be, one by one.
func TestMissingArgumentsAreErrors(t *testing.T) {
	x := newSpinning(t, 1, 1)
	exec, err := graphexec.Instantiate(x.dev, x.body, x.trace, graphexec.Graph)
	require.NoError(t, err)
	loopExec, err := loop.Instantiate(x.dev, loop.Loop{
		Body: x.body, Until: loop.Until{Buffer: x.count.ID(), Is: ir.AtLeast, Value: 100}, MaxIterations: 4,
	}, x.trace)
	require.NoError(t, err)
	var none context.Context
	for what, call := range map[string]func() error{
		"device":   func() error { _, err := graphexec.Instantiate(nil, x.body, x.trace, graphexec.Graph); return err },
		"schedule": func() error { _, err := graphexec.Instantiate(x.dev, nil, x.trace, graphexec.Graph); return err },
		"graph": func() error {
			_, err := graphexec.Instantiate(x.dev, &ir.Schedule{}, x.trace, graphexec.Graph)
			return err
		},
		"bindings":   func() error { _, err := graphexec.Instantiate(x.dev, x.body, nil, graphexec.Graph); return err },
		"nil device": func() error { _, err := graphexec.Instantiate((*sim.Device)(nil), x.body, x.trace, 0); return err },
		"nil trace":  func() error { _, err := graphexec.Instantiate(x.dev, x.body, (*tracer.Trace)(nil), 0); return err },
		"zero trace": func() error { _, err := graphexec.Instantiate(x.dev, x.body, &tracer.Trace{}, 0); return err },
		"measure":    func() error { _, err := optimizer.Measure(x.dev, (*tracer.Trace)(nil)); return err },
		"measure on": func() error { _, err := optimizer.Measure((*sim.Device)(nil), x.trace); return err },
		"trace on":   func() error { return tracer.New((*sim.Device)(nil), "", tracer.Eager).Err() },
		"back end":   func() error { _, err := graphexec.Instantiate(x.dev, x.body, x.trace, 99); return err },
		"body":       func() error { _, err := loop.Instantiate(x.dev, loop.Loop{}, x.trace); return err },
		"loop back end": func() error {
			_, err := loop.Instantiate(x.dev, loop.Loop{Body: x.body, Backend: 99}, x.trace)
			return err
		},
		"value":       func() error { return exec.Set("turns", nil) },
		"loop value":  func() error { return loopExec.Set("turns", nil) },
		"change":      func() error { return exec.Apply(graphexec.Change{}) },
		"operation":   func() error { return exec.Apply(graphexec.Enable("", false)) },
		"preflight":   func() error { _, err := exec.Preflight(graphexec.Change{}); return err },
		"loop change": func() error { return loopExec.Apply(graphexec.Change{}) },
		"replay":      func() error { return exec.Replay(none) },
		"wait":        func() error { return exec.Wait(none) },
		"run":         func() error { _, err := loopExec.Run(none); return err },
		"loop wait":   func() error { _, err := loopExec.Wait(none); return err },
		"plan":        func() error { _, err := optimizer.Plan(nil, optimizer.Options{}); return err },
		"verify":      func() error { return ir.Verify(nil) },
		"solve":       func() error { _, _, err := solver.Solve(none, nil, nil, nil, solver.Options{}); return err },
	} {
		assert.NotPanics(t, func() { assert.ErrorIs(t, call(), ir.ErrMissing, what) }, what)
	}
	for _, none := range []*graphexec.Exec{nil, {}} {
		assert.NotPanics(t, func() {
			assert.Error(t, none.Replay(context.Background()))
			assert.Error(t, none.Wait(context.Background()))
			assert.Error(t, none.Apply())
			_, err := none.Preflight()
			assert.Error(t, err)
			assert.Zero(t, none.Stream())
			assert.Zero(t, none.Stats())
			assert.NoError(t, none.Close())
		})
	}
	for _, none := range []*loop.Exec{nil, {}} {
		assert.NotPanics(t, func() {
			_, err := none.Run(context.Background())
			assert.Error(t, err)
			_, err = none.Wait(context.Background())
			assert.Error(t, err)
			assert.Error(t, none.Apply())
			_, err = none.Preflight()
			assert.Error(t, err)
			assert.Zero(t, none.Stream())
			assert.Zero(t, none.Stats())
			assert.NoError(t, none.Close())
		})
	}
	assert.NotEmpty(t, graphexec.Change{}.String())
	require.NoError(t, exec.Close())
	require.NoError(t, loopExec.Close())
	x.close()
}

// A back end that there is not is no missing argument.
func TestAnUnknownFormIsNamed(t *testing.T) {
	x := newSpinning(t, 1, 1)
	_, err := graphexec.Instantiate(x.dev, x.body, x.trace, 99)
	assert.EqualError(t, err, "unknown form 99: use Graph or Streams")
	_, err = loop.Instantiate(x.dev, loop.Loop{
		Body: x.body, Until: loop.Until{Buffer: x.count.ID(), Is: ir.AtLeast, Value: 3}, MaxIterations: 4, Backend: 99,
	}, x.trace)
	assert.ErrorContains(t, err, "unknown form 99: use Graph or Streams")
	x.close()
}

// TestAGraphThatIsNotVerifiedIsRefused expects an error that names the invalid operation of a graph that was not verified.
func TestAGraphThatIsNotVerifiedIsRefused(t *testing.T) {
	x := newSpinning(t, 1, 1)
	for name, spoil := range map[string]func(op *ir.Op){
		"kind":      func(op *ir.Op) { op.Kind = 99 },
		"no launch": func(op *ir.Op) { op.Launch = nil },
		"no copy":   func(op *ir.Op) { op.Kind, op.Launch = ir.KindCopy, nil },
		"module":    func(op *ir.Op) { op.Launch.Module = 99 },
		"buffer":    func(op *ir.Op) { op.Launch.Args[0] = ir.Arg{Kind: ir.ArgBuffer, Buffer: 99} },
		"parameter": func(op *ir.Op) { op.Launch.Args[0] = ir.Arg{Kind: ir.ArgParam, Param: -1} },
		"use":       func(op *ir.Op) { op.Uses = []ir.Access{{Range: ir.Range{Buffer: -1, Hi: 4}}} },
		"shape":     func(op *ir.Op) { op.Launch.Grid = ir.Dim3{} },
	} {
		for _, of := range []*ir.Graph{x.body.Graph, {}} {
			g := *of
			g.Ops = slices.Clone(g.Ops)
			if len(g.Ops) == 0 {
				g.Ops = []ir.Op{{Kind: ir.KindLaunch, Launch: &ir.Launch{Args: make([]ir.Arg, 1)}}}
			}
			l := *g.Ops[0].Launch
			l.Args = slices.Clone(l.Args)
			g.Ops[0].Launch = &l
			spoil(&g.Ops[0])
			s := *x.body
			s.Graph = &g
			for _, form := range graphexec.Backends() {
				assert.NotPanics(t, func() {
					_, err := graphexec.Instantiate(x.dev, &s, x.trace, form)
					var wrong *ir.Violation
					assert.ErrorAs(t, err, &wrong, name)
					_, err = loop.Instantiate(x.dev, loop.Loop{
						Body: &s, Until: loop.Until{Buffer: x.count.ID(), Is: ir.AtLeast, Value: 3}, MaxIterations: 4, Backend: form,
					}, x.trace)
					assert.Error(t, err, name)
				}, name)
			}
		}
	}
	x.close()
}
