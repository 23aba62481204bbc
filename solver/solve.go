package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/reprise-gpu/reprise/auto"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// Result is the result of Solve.
type Result struct {
	Method    string `json:"method"`
	Mode      string `json:"mode"`
	Precision string `json:"precision"`
	Device    string `json:"device"`
	Simulated bool   `json:"simulated"` // times are virtual
	Unknowns  int    `json:"unknowns"`
	Entries   int    `json:"entries"` // of the matrix

	Iterations   int       `json:"iterations"`
	Residual     float64   `json:"residual"`      // ‖r‖/‖b‖, as the method updates it
	TrueResidual float64   `json:"true_residual"` // ‖b-Ax‖/‖b‖, computed from the solution in float64; 0 with Steps
	History      []float64 `json:"history"`       // ‖r‖/‖b‖ at the start and after each iteration

	Steps       bool      `json:"steps,omitempty"`       // time stepping: residuals are norms of u over that of b
	Eigenvalue  float64   `json:"eigenvalue,omitempty"`  // of the power method; of AAᵀ for HITS; infinite if it exceeds a float64
	Authorities []float64 `json:"authorities,omitempty"` // for HITS

	Lowering string `json:"lowering,omitempty"` // in mode Loop, see loop.Lowering
	Why      string `json:"why,omitempty"`      // why the lowering was chosen; in mode Auto, why no more was replayed

	Auto *auto.Stats `json:"auto,omitempty"` // statistics of mode Auto

	Operations       int           `json:"operations"` // of the trace: an iteration, or a cycle of GMRES
	Lanes            int           `json:"lanes"`      // lanes of these operations; with Options.Devices the number of devices
	Time             time.Duration `json:"time_ns"`    // device time from the first iteration to the last check
	TimePerIteration time.Duration `json:"time_per_iteration_ns"`
}

// Solve solves Ax = b on dev. It also returns the last iterate with an error of the method (BreakdownError,
// DivergenceError, StagnationError, NotFiniteError, NotConvergedError or AccuracyError) and when ctx is done, which
// it notices at the next check. An invalid system is a ShapeError, a SymmetryError or a NotFiniteError without a
// solution, and an invalid method a MethodError.
func Solve(ctx context.Context, dev device.Device, a *sparse.CSR, b []float64, o Options) (x []float64, res Result, err error) {
	all, err := solveAll(ctx, dev, []*sparse.CSR{a}, [][]float64{b}, o)
	if len(all) == 0 {
		return nil, res, err
	}
	return all[0].x, all[0].res, both(all[0].err, err)
}

// both joins two errors if neither is nil.
func both(first, second error) error {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return device.Join(first, second)
}

// solution is what Solve returns for a system.
type solution struct {
	x   []float64
	res Result
	err error // of the method
}

// solveAll solves systems at the same time. An error that concerns all is separate from those of the solutions. The
// solutions then have only what is known about the systems.
func solveAll(ctx context.Context, dev device.Device, a []*sparse.CSR, b [][]float64, o Options) (all []solution, err error) {
	switch {
	case ctx == nil:
		return nil, absent.Nil("the context")
	case absent.Is(dev) && o.Devices == nil:
		return nil, absent.Nil("the device")
	case slices.Contains(a, nil):
		return nil, absent.Nil("the matrix")
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	if o.Sampled {
		o.Observe = nil // a sampled device has no residuals
	}
	all = make([]solution, len(a))
	problems, pending, err := prepare(o.info(dev), all, a, b, &o)
	if err == nil {
		err = o.checkDevices()
	}
	if err != nil || len(pending) == 0 {
		return all, err
	}
	r, err := start(ctx, dev, problems, &o)
	if err != nil {
		return all, err
	}
	err = r.solve(ctx, pending, &o)
	if failed := r.close(); failed != nil {
		err = both(err, failed)
		for i := range all {
			all[i].x = nil
		}
	}
	return all, err
}

// prepare makes the problems, and describes the systems in the results. It returns the problems that are not solved by
// their initial guesses, and their solutions.
func prepare(info device.Info, all []solution, a []*sparse.CSR, b [][]float64, o *Options) (problems []*problem, pending []*solution, err error) {
	for i := range a {
		s := &all[i]
		s.res = Result{
			Method: o.Method.Name, Mode: o.Mode.String(), Precision: o.Precision.String(),
			Device: info.ID, Simulated: info.Simulated, Unknowns: a[i].Rows, Entries: len(a[i].Val),
		}
		p, err := newProblem(a[i], b[i], o)
		if err != nil {
			return nil, nil, numbered(i, len(a), err)
		}
		s.res.Residual, s.res.History = p.start, []float64{p.start}
		if s.res.Steps = p.steps; !p.steps {
			s.res.TrueResidual = p.start // computed on the CPU
		}
		if p.start <= o.Tolerance && !p.steps {
			s.x = p.conclude(p.x0, &s.res)
			continue
		}
		problems, pending = append(problems, p), append(pending, s)
	}
	for _, p := range problems {
		o.Restart = min(o.Restart, p.a.Rows) // a basis has at most that many vectors
	}
	return problems, pending, nil
}

// numbered adds the number of a system to an error if there are several systems.
func numbered(i, systems int, err error) error {
	if err == nil || systems == 1 {
		return err
	}
	return fmt.Errorf("system %d: %w", i, err)
}

// solve runs the iterations and completes the solutions, which are those of the systems of r.
func (r *run) solve(ctx context.Context, all []*solution, o *Options) error {
	begin := r.now()
	if o.Sampled {
		done, err := r.sample(ctx, o)
		for _, s := range all {
			s.res.History, s.res.Residual, s.res.TrueResidual, s.res.Iterations = nil, 0, 0, done
			r.timed(&s.res, r.now()-begin)
		}
		return err
	}
	states, stopped := r.iterate(ctx, o)
	elapsed := r.now() - begin
	if r.broken(stopped) {
		return stopped
	}
	if r.loop != nil {
		var err error
		if states, err = r.look(); err != nil {
			return err
		}
	}
	for i, s := range all {
		s.res.Iterations = int(states[i][stateIterations])
		r.timed(&s.res, elapsed)
		var err error
		if s.x, err = r.systems[i].result(&s.res); err != nil {
			return err
		}
		s.err = ending(states[i][stateCode], s, r.systems[i].p, stopped, o)
	}
	return nil
}

// ending returns the error for a code of the device, or stopped for a system that was still running.
func ending(code int32, s *solution, p *problem, stopped error, o *Options) error {
	switch {
	case stopped != nil:
		return stopped
	case code == exhausted && p.steps:
		return nil
	}
	return outcome(code, s.x, o, &s.res)
}

// maxInFlight bounds the iterations (in mode Loop, the periods) between two checks, and so the delay after ctx is
// done.
const maxInFlight = 256

// broken reports whether an error comes from the device or an invalid method, so that there is no solution. An error on
// several devices ends the run on all ranks.
func (r *run) broken(err error) bool {
	return err != nil && (r.distributed != nil || device.CodeOf(err) != 0 || slices.ContainsFunc(r.systems, func(s *System) bool { return errors.Is(err, s.failed()) }))
}

// iterate runs iterations until the method has a result for each system.
func (r *run) iterate(ctx context.Context, o *Options) (states []state, err error) {
	if r.loop != nil { // a loop checks by itself
		if r.looped, err = r.loop.Run(ctx); err != nil && ctx.Err() != nil {
			r.looped, _ = r.loop.Wait(context.WithoutCancel(ctx)) // waits for iterations in flight, which change x
		}
		return nil, err
	}
	period := r.period()
	for issued := 0; ; {
		look := min(issued+min(o.CheckEvery, maxInFlight), o.MaxIterations)
		done, err := r.advance(ctx, roundUp(look-issued, period)/period)
		issued += done * period
		if r.broken(err) {
			return nil, err
		}
		var failed error
		if states, failed = r.look(); failed != nil {
			return nil, failed
		}
		r.observe(states, o)
		if err != nil || issued >= o.MaxIterations || !slices.ContainsFunc(states, state.running) {
			return states, err
		}
	}
}

func (s state) running() bool { return s[stateCode] == running }

// sample runs as many iterations as requested, with the checks of a normal run.
func (r *run) sample(ctx context.Context, o *Options) (done int, err error) {
	period := r.period()
	if r.loop != nil {
		r.looped, err = r.loop.Run(ctx)
		return r.looped.Iterations * period, err
	}
	for done < o.MaxIterations {
		periods, err := r.advance(ctx, roundUp(min(o.CheckEvery, o.MaxIterations-done), period)/period)
		done += periods * period
		if err != nil {
			return done, err
		}
		if _, err := r.look(); err != nil {
			return done, err
		}
	}
	return done, nil
}

// timed sets the times of a result and the size of an iteration.
func (r *run) timed(res *Result, elapsed time.Duration) {
	res.Time, res.Operations, res.Lanes = elapsed, r.operations, r.lanes
	if r.loop != nil {
		res.Lowering, res.Why = r.looped.Lowering.String(), r.looped.Why
	}
	if stats := auto.StatsOf(r.t); stats.Calls > 0 {
		res.Auto, res.Why = &stats, stats.Reason
	}
	if res.Iterations > 0 {
		res.TimePerIteration = elapsed / time.Duration(res.Iterations)
	}
}

// observe calls Options.Observe, for the system with the most iterations and the one with the greatest residual.
func (r *run) observe(states []state, o *Options) {
	if o.Observe == nil {
		return
	}
	done, residual := 0, 0.0
	for i := range states {
		square := math.Float32frombits(uint32(states[i][stateNorm]))
		done = max(done, int(states[i][stateIterations]))
		residual = max(residual, math.Sqrt(float64(square))/r.systems[i].p.norm)
	}
	if done > 0 {
		o.Observe(done, residual)
	}
}

// result reads the solution and what is known about it.
func (s *System) result(res *Result) ([]float64, error) {
	squares, err := s.read(s.history.Slice(0, int64(res.Iterations)))
	if err != nil {
		return nil, err
	}
	for _, square := range squares {
		res.History = append(res.History, math.Sqrt(square)/s.p.norm)
	}
	res.Residual = res.History[res.Iterations]
	x, err := s.read(s.solution(res.Iterations))
	if err != nil {
		return nil, err
	}
	return s.p.conclude(x, res), nil
}

// lost is the factor by which the true residual may exceed the tolerance without an error. It allows for rounding.
const lost = 10

// outcome returns the error for a code of the device.
func outcome(code int32, x []float64, o *Options, res *Result) error {
	method := o.Method.Name
	switch code {
	case converged:
		if i := slices.IndexFunc(x, func(v float64) bool { return !finite(v) }); i >= 0 {
			return &NotFiniteError{What: fmt.Sprintf("x[%d]", i), Value: x[i], Iteration: res.Iterations}
		}
		if !(res.TrueResidual <= lost*o.Tolerance) {
			return &AccuracyError{
				Method: method, Precision: o.Precision, Iterations: res.Iterations,
				Residual: res.Residual, True: res.TrueResidual, Tolerance: o.Tolerance,
			}
		}
		return nil
	case exhausted:
		return &NotConvergedError{Method: method, Iterations: res.Iterations, Residual: res.Residual, Tolerance: o.Tolerance, Remedy: o.Method.remedy()}
	case diverged:
		return &DivergenceError{Method: method, Iteration: res.Iterations, Residual: res.Residual, Remedy: o.Method.remedy()}
	case stagnant:
		return &StagnationError{Method: method, Iteration: res.Iterations, Residual: res.Residual, Restart: o.Restart}
	case notFinite:
		if finite(res.Residual) { // NaN if no iteration has computed one
			return &NotFiniteError{What: "a quotient", Value: math.Inf(1), Iteration: res.Iterations + 1}
		}
		return &NotFiniteError{What: "the residual", Value: res.Residual, Iteration: res.Iterations}
	case brokenDown:
		return &BreakdownError{Method: method, Iteration: res.Iterations + 1, What: o.Method.Breakdown}
	}
	panic("BUG: the device has come to " + strconv.Itoa(int(code)))
}
