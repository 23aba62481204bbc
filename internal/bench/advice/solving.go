package advice

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/solver"
)

// solving measures solves on devices of their own.
type solving struct {
	solver   *Solver
	open     func() (device.Device, error)
	strategy string
	loop     *Loop
}

// count sets the number of iterations to that of a solve, which may end before the limit.
func (s *solving) count(ctx context.Context) error {
	r, err := s.solve(ctx, &Lowering{mode: solver.Graph})
	if err != nil {
		return err
	}
	if r.Iterations == 0 {
		return fmt.Errorf("%s ends before its first iteration", s.solver.Name)
	}
	s.loop.Iterations, s.loop.Limited = r.Iterations, r.Iterations >= s.solver.Iterations
	return nil
}

// measure sets the measured times. Each way solves the same system in the same number of iterations.
func (s *solving) measure(ctx context.Context) error {
	for i := range s.loop.Ways {
		w := &s.loop.Ways[i]
		r, err := s.solve(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
		w.MeasuredUS = micros(r.Time) / float64(r.Iterations)
	}
	return nil
}

// solve solves the system. A context that can be cancelled would cost a while node some round trips.
func (s *solving) solve(ctx context.Context, w *Lowering) (r solver.Result, err error) {
	if err := ctx.Err(); err != nil {
		return r, err
	}
	dev, err := s.open()
	if err != nil {
		return r, err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	o := s.solver.Options
	o.Mode, o.Lowering, o.Strategy, o.MaxIterations, o.CheckEvery = w.mode, w.lowering, s.strategy, s.solver.Iterations, s.loop.CheckEvery
	if w.mode == solver.Loop {
		o.Batch = w.Batch
	}
	_, r, err = solver.Solve(context.WithoutCancel(ctx), dev, s.solver.Matrix, slices.Repeat([]float64{1}, s.solver.Matrix.Rows), o)
	if errors.As(err, new(*solver.NotConvergedError)) {
		err = nil
	}
	return r, err
}
