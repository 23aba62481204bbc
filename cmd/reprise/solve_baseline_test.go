package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/sim"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// byHand is a record of build/baseline/solver/cg.
type byHand struct {
	Version      string
	Iterations   int
	Residual     float64
	TrueResidual float64       `json:"true_residual"`
	Time         time.Duration `json:"time_ns"`
}

// TestConjugateGradientsBesideThoseByHand solves the same system on the simulated H200 in C++ and here, where the host
// looks and where the device goes round: in the same iterations, to the same residual, and in no more
// virtual time, but that the end of a round of the device's own loop may take 10 ns more: here it counts the rounds, too, and ends
// a launch that has had its own; and the end of the loop 50 ns, to report that. make compare-solver builds what it needs.
func TestConjugateGradientsBesideThoseByHand(t *testing.T) {
	const program, library, side = "../../build/baseline/solver/cg", "../../build/libcudasim.so", 64
	for _, file := range []string{program, library} {
		if _, err := os.Stat(file); err != nil {
			t.Skipf("there is no %s: make compare-solver builds it", file)
		}
	}
	a := sparse.Poisson2D(side)
	b := make([]float64, a.Rows)
	for i := range b {
		b[i] = 1
	}
	for _, every := range []int{1, 4, 16, 50} {
		child := exec.Command(program, "--size", strconv.Itoa(side), "--check-every", strconv.Itoa(every))
		child.Env = append(os.Environ(), "REPRISE_LIBCUDA="+library, "REPRISE_SIM=h200")
		out, err := child.Output()
		require.NoError(t, err)
		records := json.NewDecoder(bytes.NewReader(out))
		dev, err := sim.New(sim.Options{})
		require.NoError(t, err)
		_, eager, err := solver.Solve(context.Background(), dev, a, b, solver.Options{Mode: solver.Eager, CheckEvery: every})
		require.NoError(t, err)
		require.NoError(t, dev.Close())
		for _, o := range []solver.Options{
			{Mode: solver.Graph, CheckEvery: every},
			{Mode: solver.Loop, CheckEvery: every, Lowering: graphexec.WhileNode, Batch: every},
		} {
			var hand byHand
			require.NoError(t, records.Decode(&hand))
			dev, err := sim.New(sim.Options{})
			require.NoError(t, err)
			_, ours, err := solver.Solve(context.Background(), dev, a, b, o)
			require.NoError(t, err)
			require.NoError(t, dev.Close())
			assert.Equal(t, hand.Iterations, ours.Iterations)
			assert.Equal(t, hand.Residual, ours.Residual)
			assert.InEpsilon(t, hand.TrueResidual, ours.TrueResidual, 1e-6)
			allowed := hand.Time
			if o.Mode == solver.Loop {
				allowed += 10*time.Duration((hand.Iterations+every-1)/every) + 50
			}
			assert.LessOrEqual(t, ours.Time, allowed, "%s, checked every %d", hand.Version, every)
			assert.Less(t, ours.Time, eager.Time)
			t.Logf("%-5s checked every %2d: %d iterations of %v here and %v by hand, %.4f; eager %v, %.2f times as long", hand.Version, every, ours.Iterations,
				ours.TimePerIteration, hand.Time/time.Duration(hand.Iterations), float64(ours.Time)/float64(hand.Time),
				eager.TimePerIteration, float64(eager.Time)/float64(ours.Time))
		}
	}
}
