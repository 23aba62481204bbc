package share_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/share"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// TestASolverIsAProgram solves a system beside a program of greater priority, as pieces that the host submits and as those
// that the device runs by itself. The solution has the bits of one alone.
func TestASolverIsAProgram(t *testing.T) {
	a, err := sparse.Generate("poisson2d:8")
	require.NoError(t, err)
	b := slices.Repeat([]float64{1}, a.Rows)
	want, res, err := solver.Solve(context.Background(), open(t), a, b, solver.Options{})
	require.NoError(t, err)
	for _, o := range []share.FillOptions{{}, {Flag: true}} {
		dev := open(t)
		it, err := solver.Record(dev, a, b, solver.Options{CheckEvery: 4})
		require.NoError(t, err)
		urgent := newAdding(t, dev, "urgent", 3)
		s, err := share.New(dev, share.Fill(o))
		require.NoError(t, err)
		detector, err := s.Program("detector", share.Priority(9), urgent.trace)
		require.NoError(t, err)
		p, err := s.Program("solver", share.Priority(0), it.Trace)
		require.NoError(t, err)
		require.NoError(t, s.Use(func(reprise.Device) error { return it.Load() }))

		requests := make(chan error)
		go func() {
			var err error
			for i := 0; i < 50 && err == nil; i++ {
				err = detector.Replay(context.Background())
			}
			requests <- err
		}()
		for ended := false; !ended; {
			require.NoError(t, p.Replay(context.Background()))
			require.NoError(t, s.Use(func(reprise.Device) (err error) { ended, err = it.Check(); return err }))
		}
		require.NoError(t, <-requests)
		require.NoError(t, s.Close())
		x, got, err := it.Solution()
		require.NoError(t, err)
		assert.Equal(t, want, x)
		assert.Equal(t, res.Iterations, got.Iterations)
		require.NoError(t, it.Close())
	}
}
