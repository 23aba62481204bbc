package main

import (
	"context"
	"errors"

	"github.com/spf13/pflag"

	"github.com/reprise-gpu/reprise/cluster"
	machines "github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/solver"
)

// checkMachine refuses flags that have no meaning for the devices of a machine, and selects its modes.
func (f *solveFlags) checkMachine(s *solves, flags *pflag.FlagSet) error {
	if f.machine == "" {
		return nil
	}
	if _, err := machines.Lookup(f.machine); err != nil {
		return usagef("--machine: %w", err)
	}
	for _, name := range []string{"device", "sample", "race", "profile"} {
		if flags.Changed(name) {
			return usagef("--%s is for one device: leave it out, or leave out --machine", name)
		}
	}
	if len(s.b) > 1 {
		return usagef("--rhs %s: --machine is for one right-hand side", f.rhs)
	}
	s.machine = f.machine
	if !flags.Changed("mode") {
		s.modes = []solver.Mode{solver.Streams, solver.Graph}
	}
	return nil
}

// onMachine solves on all devices of the machine. Under mpirun, only rank 0 reports the row.
func (s *solves) onMachine(ctx context.Context, o solver.Options) (row solveRow, x []float64, err error) {
	var failed error
	reported := false
	err = cluster.Run(ctx, s.machine, cluster.Simulated, func(r *cluster.Rank) error {
		mine := o
		mine.Devices = r
		if r.Number() > 0 {
			mine.Observe = nil
		}
		solution, result, err := solver.Solve(ctx, nil, s.a, s.b[0], mine)
		if r.Number() == 0 {
			x, row.Result, failed, reported = solution, result, err, true
		}
		if ofMethod(err) && !errors.As(err, new(*cluster.LostError)) {
			return nil // all ranks have it
		}
		return err
	})
	if err != nil {
		return row, nil, machineError{err}
	}
	s.quiet = !reported
	return row, x, failed
}

// machineError is an error of the devices or ranks of a machine, which ends all rows.
type machineError struct{ error }

func (e machineError) Unwrap() error { return e.error }
