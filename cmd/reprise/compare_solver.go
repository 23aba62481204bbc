package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/compare"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// compareSolverFlags are the flags of compare solver as given.
type compareSolverFlags struct {
	compareFlags
	sides         []int
	checkEvery    []int
	maxIterations int
}

func newCompareSolver() *cobra.Command {
	var f compareSolverFlags
	c := &cobra.Command{
		Use:   "solver",
		Short: "Compare conjugate gradients with a program written by hand in C++",
		Long: `Compare solver solves Poisson's equation on a square by conjugate gradients, in every mode
of reprise solve and in a while node (while). It also runs a program written by hand in
C++ with the same kernels, which launches a graph for each iteration, or loops in a while
node. On a GPU, each solves once to warm up and once for the measurement. All must reach
the same residual in the same number of iterations, bit by bit.

` + "`make baseline`" + ` builds the program (build/baseline/solver/cg), ` + "`make libcudasim`" + ` the
simulated driver (build/libcudasim.so).

  over eager    speedup over launching the kernels one by one
  to c++ graph  time divided by that of the C++ version with a graph for each iteration
  to c++ while  time divided by that of the C++ version with a while node

The exit status is 1 if graph or while takes more than --max-ratio times as long as the C++
version of that name, or if a replay takes more than --max-ratio times as long as eager
launches. The default allows for one difference: while counts its iterations, so that a
launch can be bounded, and the C++ version does not.`,
		Example: `  reprise compare solver
  reprise compare solver --size 128 --check-every 16
  reprise compare solver --size 1024 --sample 16 --max-iterations 120`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := c.Flags()
	flags.StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	flags.IntSliceVar(&f.sides, "size", []int{64}, "points of a side of the square")
	flags.IntSliceVar(&f.checkEvery, "check-every", []int{1, 4, 16, 50}, "iterations between two checks of the residual by the host, and per round of while")
	flags.IntVar(&f.maxIterations, "max-iterations", 10_000, "maximum number of iterations")
	flags.Int64Var(&f.sample, "sample", 0, "run about this many blocks of each launch and scale the counts, for large systems: --max-iterations are timed, nothing is solved, and while is omitted")
	flags.StringVar(&f.baseline, "baseline", "", "`DIR` of the C++ programs")
	flags.StringVar(&f.library, "libcudasim", "", "`FILE` of the simulated driver")
	flags.StringVar(&f.json, "json", "", "also write the comparisons to `FILE` as JSON (- for standard output)")
	flags.Float64Var(&f.maxRatio, "max-ratio", 1.001, "fail if a ratio is above this (0: never)")
	return c
}

func (f *compareSolverFlags) run(c *cobra.Command) error {
	config, err := f.config()
	if err != nil {
		return err
	}
	all, stopped := watched(c, "solutions", func(ctx context.Context, update progressFunc) ([]compare.SolverComparison, error) {
		config.Progress = update
		return compare.RunSolver(ctx, config)
	})
	stopped = withProgress(stopped, "after %d of %d comparisons", len(all), config.Settings())
	if len(all) == 0 {
		return stopped
	}
	if stopped != nil {
		stopped = aside(stopped, &f.json)
	}
	failed := writeResults(c.OutOrStdout(), f.json, all, func(w io.Writer) error { return compare.WriteSolverTables(w, all) })
	if err := device.Join(stopped, failed); err != nil {
		return err
	}
	return f.verdict(all)
}

// config checks the flags.
func (f *compareSolverFlags) config() (c compare.SolverConfig, err error) {
	for _, list := range []struct {
		flag   string
		values []int
		most   int
	}{{"size", f.sides, 1 << 14}, {"check-every", f.checkEvery, 1 << 16}, {"max-iterations", []int{f.maxIterations}, 1 << 26}} {
		for _, n := range list.values {
			if n < 1 || n > list.most {
				return c, usagef("--%s %d: use 1 to %d", list.flag, n, list.most)
			}
		}
	}
	if err := checkDevice(f.device); err != nil {
		return c, err
	}
	if err := checkSample(f.sample, false); err != nil {
		return c, err
	}
	if err := f.checkRatio(); err != nil {
		return c, err
	}
	if f.json != "" && f.json != "-" {
		if err := checkWritable(f.json); err != nil {
			return c, err
		}
	}
	return compare.SolverConfig{
		Open:  func() (device.Device, error) { return openAny(f.device, sim.Options{Sample: f.sample}) },
		Sides: f.sides, CheckEvery: f.checkEvery, MaxIterations: f.maxIterations, Sample: f.sample, Programs: f.programs(),
	}, nil
}

// verdict returns an error for the first ratio above --max-ratio.
func (f *compareSolverFlags) verdict(all []compare.SolverComparison) error {
	for i := range all {
		s := &all[i]
		if row, than := s.Slower(f.maxRatio); f.maxRatio > 0 && row != nil {
			return fmt.Errorf("%s on poisson2d:%d, a check every %d: %s takes %.6g times as long as %s, and %g is allowed",
				s.Method, s.Side, s.CheckEvery, row.Name, float64(row.Time)/float64(than.Time), than.Name, f.maxRatio)
		}
	}
	return nil
}
