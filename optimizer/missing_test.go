package optimizer_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestMissingArguments leaves arguments out of all that the package exports.
func TestMissingArguments(t *testing.T) {
	p, err := profiles.Lookup("h200")
	require.NoError(t, err)
	trace := func(t *testing.T) *tracer.Trace {
		tr := tracer.New(null.New(), "missing", tracer.Deferred)
		tr.Memset(tr.Alloc("x", ir.F32, 4, ir.InOut), 0)
		done, err := tr.Finish()
		require.NoError(t, err)
		return done
	}
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{
			"Measure": optimizer.Measure, "Measured": costmodel.Measured, "Modelled": costmodel.Modelled,
			"NewMeasurement": costmodel.NewMeasurement, "ParseMeasurement": costmodel.ParseMeasurement,
			"Plan": optimizer.Plan, "PlanOn": optimizer.PlanOn,
			"Measure on sim": func(r *tracer.Trace) error {
				d, err := sim.New(sim.Options{})
				require.NoError(t, err)
				_, err = optimizer.Measure(d, r)
				return err
			},
		},
		Receivers: []func(*testing.T) any{
			func(*testing.T) any { return &optimizer.Measurement{} },
			func(*testing.T) any { return optimizer.Options{} },
			func(*testing.T) any { return optimizer.Options{Custom: &model.Profile{}} },
			func(*testing.T) any { return optimizer.Description{} },
		},
		Pool: func(t *testing.T) []any {
			tr := trace(t)
			plan, err := optimizer.Plan(tr.Graph, optimizer.Options{})
			require.NoError(t, err)
			return []any{p, tr, tr.Graph, plan.Schedule, &optimizer.Measurement{}, []model.Demand(nil)}
		},
		Typed: func(err error) bool { return errors.Is(err, ir.ErrMissing) },
	})
}

// A program that is not a *tracer.Trace is neither measured nor planned, even if it embeds one.
func TestAForeignProgramIsNotPlanned(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	trace, err := tracer.New(dev, "foreign", tracer.Deferred).Finish()
	require.NoError(t, err)
	foreign := struct{ *tracer.Trace }{trace}
	_, err = optimizer.Measure(dev, foreign)
	require.ErrorIs(t, err, traced.ErrForeign)
	_, err = optimizer.PlanOn(dev, foreign, optimizer.Options{})
	require.ErrorIs(t, err, traced.ErrForeign)
	require.NoError(t, trace.Close())
	require.NoError(t, dev.Close())
}
