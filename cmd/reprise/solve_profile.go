package main

import (
	"context"
	"io"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/solver"
)

// profiled is the number of iterations that a profile is averaged over. The first iteration is slower, because the
// caches are empty.
const profiled = 16

// profile runs some iterations of each method, one kernel after another, and prints the demand of each kernel.
func (s *solves) profile(ctx context.Context, to io.Writer, path string) error {
	var rows []bench.KernelProfile
	for _, m := range s.methods {
		more, err := s.profileOf(ctx, m)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	return writeResults(to, path, rows, func(w io.Writer) error { return bench.WriteProfile(w, rows) })
}

func (s *solves) profileOf(ctx context.Context, m solver.Method) (rows []bench.KernelProfile, err error) {
	dev, err := s.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	simulated, ok := dev.(*sim.Device)
	if !ok {
		return nil, usagef("--profile: it requires a simulated device, which counts the work of each kernel")
	}
	simulated.StartTimeline()
	o := s.options
	o.Method, o.Mode, o.Sampled, o.MaxIterations = m, solver.Eager, true, profiled
	if _, _, err := solver.Solve(ctx, dev, s.a, s.b[0], o); err != nil {
		return nil, err
	}
	rows = bench.ProfileTimeline(simulated)
	for i := range rows {
		rows[i].Workload, rows[i].Size = m.Name, s.a.Rows
	}
	return rows, nil
}
