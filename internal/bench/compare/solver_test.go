package compare

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// fakeSolver prints valid records with times of a millisecond, except for the mistake in the last one that how selects.
func fakeSolver(how string) int {
	var size, every, most, ordinal int
	var sample int64
	var version string
	flags := flag.NewFlagSet("fake", flag.ContinueOnError)
	flags.IntVar(&size, "size", 0, "")
	flags.IntVar(&every, "check-every", 0, "")
	flags.IntVar(&most, "max-iterations", 0, "")
	flags.IntVar(&ordinal, "device", 0, "")
	flags.Int64Var(&sample, "sample", 0, "")
	flags.StringVar(&version, "version", "", "")
	if flags.Parse(os.Args[1:]) != nil || ordinal != 0 {
		return 2
	}
	r := solverRecord{Method: "cg", Device: "sim:h200", Simulated: true, Size: size, CheckEvery: every, Sample: sample, Solved: Solved{Iterations: most}}
	if sample == 0 {
		dev, err := sim.New(sim.Options{})
		if err != nil {
			return 1
		}
		ones := make([]float64, size*size)
		for i := range ones {
			ones[i] = 1
		}
		a, err := sparse.Generate(fmt.Sprintf("poisson2d:%d", size))
		if err != nil {
			return 1
		}
		_, got, err := solver.Solve(context.Background(), dev, a, ones, solver.Options{})
		if err != nil {
			return 1
		}
		r.Solved = Solved{got.Iterations, got.Residual, got.TrueResidual, 0}
	}
	r.Time = time.Millisecond
	out := json.NewEncoder(os.Stdout)
	versions := []string{"graph", "while"}
	if version != "all" {
		versions = []string{version}
	}
	for i, v := range versions {
		if r.Version = v; i == len(versions)-1 {
			switch how {
			case "residual":
				r.Residual *= 1 + 1e-15
			case "iterations":
				r.Iterations++
			case "device":
				r.Device = "gpu0"
			case "short":
				return 0
			case "fails":
				return 1
			}
		}
		if out.Encode(r) != nil {
			return 1
		}
	}
	return 0
}

// onSquares returns a small comparison with a fake solver.
func onSquares(t *testing.T, how string) SolverConfig {
	return SolverConfig{
		Open:  func() (device.Device, error) { return sim.New(sim.Options{}) },
		Sides: []int{8, 9}, CheckEvery: []int{4}, MaxIterations: 100, Programs: fakes(t, how),
	}
}

func TestSolversAreSetBesideTheirPeers(t *testing.T) {
	all, err := RunSolver(context.Background(), onSquares(t, "right"))
	require.NoError(t, err)
	require.Len(t, all, 2)
	for i, side := range []int{8, 9} {
		s := &all[i]
		assert.Equal(t, side*side, s.Unknowns)
		require.Len(t, s.Rows, len(ways)+2)
		for _, r := range s.Rows {
			assert.Equal(t, s.Row("eager").Iterations, r.Iterations, r.Name)
			assert.InDelta(t, r.Time.Seconds()/1e-3, r.ToGraph, 1e-9, r.Name)
			assert.Equal(t, r.ToGraph, r.ToWhile, "both versions take a millisecond")
			assert.InDelta(t, s.Row("eager").Time.Seconds()/r.Time.Seconds(), r.OverEager, 1e-9, r.Name)
		}
		row, _ := s.Slower(1)
		assert.Nil(t, row, "a millisecond is long")
		s.Row("c++ while").Time = s.Row("while").Time
		row, _ = s.Slower(1)
		assert.Nil(t, row, "as quick is not slower")
		s.Row("while").Time += 2 * time.Nanosecond
		row, than := s.Slower(1)
		assert.Equal(t, []string{"while", "c++ while"}, []string{row.Name, than.Name})
		s.Row("streams").Time = s.Row("eager").Time + time.Microsecond
		row, than = s.Slower(1)
		assert.Equal(t, []string{"streams", "eager"}, []string{row.Name, than.Name})
	}
	var table strings.Builder
	require.NoError(t, WriteSolverTables(&table, all))
	assert.Contains(t, table.String(), "cg on poisson2d:9, 81 unknowns, on sim:h200 (simulated: virtual time), a check every 4 iterations\n")
	assert.Regexp(t, `\n +c\+\+ graph +\d+ +[\d.]+ +1000.00 +[\d.]+x +1.000x +1.000x `, table.String())
}

// TestSampledSolversHaveTimesAlone runs on a sampled device, which has neither loops on the device nor residuals.
func TestSampledSolversHaveTimesAlone(t *testing.T) {
	c := onSquares(t, "right")
	c.Sample, c.MaxIterations = 1, 8
	c.Open = func() (device.Device, error) { return sim.New(sim.Options{Sample: 1}) }
	all, err := RunSolver(context.Background(), c)
	require.NoError(t, err)
	assert.Nil(t, all[0].Row("while"))
	assert.Nil(t, all[0].Row("c++ while"))
	for _, r := range all[0].Rows {
		assert.Equal(t, 8, r.Iterations, r.Name)
		assert.Positive(t, r.Time, r.Name)
	}
	var table strings.Builder
	require.NoError(t, WriteSolverTables(&table, all))
	assert.Contains(t, table.String(), "there is no while: this device has no conditional nodes\n")
}

func TestAProgramThatSolvedSomethingElseIsRefused(t *testing.T) {
	for how, want := range map[string]string{
		"residual":   "not the same work: c++ while has residual ",
		"iterations": "not the same work: c++ while has residual",
		"device":     "not the same device: the C++ program ran on gpu0, and this one on sim:h200",
		"short":      "the C++ program did not run all of its versions",
		"fails":      "exit status 1",
	} {
		all, err := RunSolver(context.Background(), onSquares(t, how))
		assert.ErrorContains(t, err, "cg on poisson2d:8, a check every 4: ")
		assert.ErrorContains(t, err, want)
		assert.Empty(t, all)
	}
	c := onSquares(t, "right")
	c.Programs.Dir = t.TempDir()
	_, err := RunSolver(context.Background(), c)
	assert.ErrorContains(t, err, "solver/cg: `make baseline` builds it")
}
