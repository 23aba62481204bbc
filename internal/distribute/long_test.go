package distribute_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench/scale/programs"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/tracer"
)

// A trace of many steps, each of which reads all that the steps before have written, is planned and verified in a time
// that grows about linearly. Quadratic algorithms take minutes for it.
func TestLongTraceIsPlannedQuickly(t *testing.T) {
	p, err := programs.Parse("rsim:256x100")
	require.NoError(t, err)
	g := record(t, "rsim", func(tr *tracer.Tracer, _ *tracer.Module) { p.Record(tr) })
	began := time.Now()
	plan, err := distribute.New(g, machineOf(t, 8, 4, true), distribute.Options{})
	require.NoError(t, err)
	require.NoError(t, distribute.Verify(plan))
	assert.Less(t, time.Since(began), 30*time.Second)
}
