package graphexec_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/sim"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestMissingArgumentsAreErrors leaves out arguments that there must be, one by one.
func TestMissingArgumentsAreErrors(t *testing.T) {
	x := newSpinning(t, 1, 1)
	exec, err := graphexec.Instantiate(x.dev, x.body, x.trace, graphexec.Graph)
	require.NoError(t, err)
	loop, err := graphexec.InstantiateLoop(x.dev, graphexec.Loop{
		Body: x.body, Until: graphexec.Until{Buffer: x.count.ID(), Is: graphexec.AtLeast, Value: 100}, MaxIterations: 4,
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
		"body":       func() error { _, err := graphexec.InstantiateLoop(x.dev, graphexec.Loop{}, x.trace); return err },
		"loop back end": func() error {
			_, err := graphexec.InstantiateLoop(x.dev, graphexec.Loop{Body: x.body, Backend: 99}, x.trace)
			return err
		},
		"change":      func() error { return exec.Apply(graphexec.Change{}) },
		"operation":   func() error { return exec.Apply(graphexec.Enable("", false)) },
		"preflight":   func() error { _, err := exec.Preflight(graphexec.Change{}); return err },
		"loop change": func() error { return loop.Apply(graphexec.Change{}) },
		"replay":      func() error { return exec.Replay(none) },
		"wait":        func() error { return exec.Wait(none) },
		"run":         func() error { _, err := loop.Run(none); return err },
		"loop wait":   func() error { _, err := loop.Wait(none); return err },
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
	for _, none := range []*graphexec.LoopExec{nil, {}} {
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
	require.NoError(t, loop.Close())
	x.close()
}
