package graphexec_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestMissingArguments leaves arguments out of all that the package exports.
func TestMissingArguments(t *testing.T) {
	until := func(x *spinning) loop.Loop {
		return loop.Loop{Body: x.body, Until: loop.Until{Buffer: x.count.ID(), Is: ir.AtLeast, Value: 3}, MaxIterations: 4}
	}
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{
			"Enable": graphexec.Enable, "Grid": graphexec.Grid, "Param": graphexec.Param,
			"Rebind": graphexec.Rebind, "Swap": graphexec.Swap, "Instantiate": graphexec.Instantiate,
			"InstantiateLoop": loop.Instantiate,
		},
		Receivers: []func(*testing.T) any{
			func(t *testing.T) any {
				x := newSpinning(t, 1, 1)
				exec, err := graphexec.Instantiate(x.dev, x.body, x.trace, graphexec.Graph)
				require.NoError(t, err)
				return exec
			},
			func(t *testing.T) any {
				x := newSpinning(t, 1, 1)
				exec, err := loop.Instantiate(x.dev, until(x), x.trace)
				require.NoError(t, err)
				return exec
			},
			func(*testing.T) any { return &graphexec.Exec{} },
			func(*testing.T) any { return &loop.Exec{} },
			func(*testing.T) any { return graphexec.Change{} },
			func(*testing.T) any { return graphexec.Verdict{} },
			func(*testing.T) any { return graphexec.Backend(99) },
			func(*testing.T) any { return ir.Comparison(99) },
			func(*testing.T) any { return loop.Ending(99) },
			func(*testing.T) any { return loop.Lowering(99) },
			func(*testing.T) any { return loop.Overrun(99) },
		},
		Pool: func(t *testing.T) []any {
			x := newSpinning(t, 1, 1)
			return []any{context.Background(), x.dev, x.body, x.trace, until(x), "count"}
		},
		Typed: func(err error) bool {
			return errors.Is(err, ir.ErrMissing)
		},
		Optional: []string{"graphexec.Exec.Set 1", "loop.Exec.Set 1"}, // of a parameter that there is not: see the next test
	})
}

// A program that is not a *tracer.Trace cannot be instantiated, even if it embeds one.
func TestAForeignProgramIsNotInstantiated(t *testing.T) {
	x := newSpinning(t, 1, 1)
	foreign := struct{ *tracer.Trace }{x.trace}
	_, err := graphexec.Instantiate(x.dev, x.body, foreign, graphexec.Graph)
	require.ErrorIs(t, err, traced.ErrForeign)
	until := loop.Until{Buffer: x.count.ID(), Is: ir.AtLeast, Value: 3}
	_, err = loop.Instantiate(x.dev, loop.Loop{Body: x.body, Until: until, MaxIterations: 4}, foreign)
	require.ErrorIs(t, err, traced.ErrForeign)
	x.close()
}
