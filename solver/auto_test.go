package solver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// Two iterations are launched, and from the third on all are replays; of the wave equation an iteration is a step,
// in which the buffers change places.
func TestAutoReplaysFromTheThirdIterationOn(t *testing.T) {
	for _, c := range []struct {
		method     Method
		a          *sparse.CSR
		launches   int // of an iteration
		iterations int // of a replay
	}{
		{CG, generate("poisson2d:12"), 6, 1},
		{PageRank, web(t, 60, 3), 4, 1},
		{Wave, generate("poisson2d:12"), 2, 2},
	} {
		o := Options{Method: c.method, MaxIterations: 400, Mode: Eager}
		b := positive(c.a.Rows)
		want, eager, err := Solve(context.Background(), open(t, sim.Options{Race: sim.RaceOn}), c.a, b, o)
		require.NoError(t, err)
		o.Mode = Auto
		got, auto, err := Solve(context.Background(), open(t, sim.Options{Race: sim.RaceOn}), c.a, b, o)
		require.NoError(t, err)
		assert.Equal(t, want, got, c.method.Name)
		assert.Equal(t, eager.History, auto.History, c.method.Name)

		s := auto.Auto
		require.NotNil(t, s)
		assert.Equal(t, 2*c.launches, s.Calls-s.Replayed, "launches of %s one by one", c.method.Name)
		assert.Equal(t, s.Replays*c.launches*c.iterations, s.Replayed, c.method.Name)
		assert.Equal(t, 1, s.Bodies, c.method.Name)
		assert.Empty(t, auto.Why)
		assert.Less(t, auto.TimePerIteration, eager.TimePerIteration, c.method.Name)
	}
}

// GMRES repeats itself after hundreds of launches, and loops of growing length are among them.
func TestAutoFindsTheCycleOfGMRES(t *testing.T) {
	a := sparse.ConvectionDiffusion(12, 2)
	b := random(a.Rows, 1)
	o := Options{Method: GMRES, Mode: Auto, Restart: 6, Tolerance: 1e-10}
	_, res, err := Solve(context.Background(), open(t, sim.Options{}), a, b, o)
	require.NoError(t, err)
	assert.Greater(t, res.Auto.Replayed, res.Auto.Calls/2, "%+v", res.Auto)
	assert.Less(t, res.Auto.Replays, res.Auto.Replayed/10, "%+v", res.Auto)
}
