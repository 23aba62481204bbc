package auto_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestMissingArguments calls the exported functions with nil or zero arguments.
func TestMissingArguments(t *testing.T) {
	trace, err := tracer.New(null.New(), "missing", tracer.Deferred).Finish()
	require.NoError(t, err)
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{
			"New": auto.New, "StatsOf": auto.StatsOf,
		},
		Pool:  func(*testing.T) []any { return []any{null.New(), trace} },
		Typed: func(err error) bool { return errors.Is(err, ir.ErrMissing) },
	})
	assert.ErrorIs(t, auto.New((*sim.Device)(nil), "missing", auto.Options{}).Err(), ir.ErrMissing)
	assert.ErrorIs(t, auto.New(nil, "missing", auto.Options{}).Err(), ir.ErrMissing)
}
