package solver

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// TestCheckEveryOfAnySizeIsAtTheEnd solves with looks after as many iterations as an int holds.
func TestCheckEveryOfAnySizeIsAtTheEnd(t *testing.T) {
	a := generate("poisson2d:4")
	b := random(a.Rows, 1)
	for _, method := range []Method{CG, GMRES} {
		want, first, err := Solve(context.Background(), open(t, sim.Options{}), a, b, Options{Method: method, MaxIterations: 40, Restart: 4})
		require.NoError(t, err)
		for _, o := range []Options{
			{Mode: Eager, CheckEvery: math.MaxInt},
			{Mode: Graph, CheckEvery: math.MaxInt},
			{Mode: Loop, CheckEvery: math.MaxInt},
			{Mode: Loop, CheckEvery: math.MaxInt, Batch: 7},
			{Mode: Loop, CheckEvery: maxIterations + 1, Lowering: loop.WhileNode},
		} {
			o.Method, o.MaxIterations, o.Restart = method, 40, 4
			x, res, err := Solve(context.Background(), open(t, sim.Options{}), a, b, o)
			about := fmt.Sprintf("%s, %v, every %d, batch %d", method.Name, o.Mode, o.CheckEvery, o.Batch)
			require.NoError(t, err, about)
			assert.Equal(t, want, x, about)
			assert.Equal(t, first.Iterations, res.Iterations, about)
		}
	}
	for _, batch := range []int{math.MaxInt, maxIterations + 1} {
		o := Options{CheckEvery: batch, Batch: batch, Mode: Loop, Lowering: loop.Unrolled}
		assert.ErrorAs(t, o.Check(), new(*OptionError))
	}
}

// TestSolvingEndsWithItsContextBeforeTheFirstLook gives up a method that makes no progress, long before its first look.
func TestSolvingEndsWithItsContextBeforeTheFirstLook(t *testing.T) {
	a := generate("poisson2d:4")
	for _, mode := range []Mode{Eager, Graph, Loop} {
		ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
		o := Options{Method: Heat, Mode: mode, CheckEvery: math.MaxInt, MaxIterations: maxIterations / 64}
		start := time.Now()
		_, res, err := Solve(ctx, open(t, sim.Options{}), a, random(a.Rows, 1), o)
		cancel()
		assert.ErrorIs(t, err, context.DeadlineExceeded, "%v", mode)
		t.Log(mode, res.Iterations, time.Since(start))
		assert.Less(t, time.Since(start), 5*time.Second, "%v", mode)
	}
}
