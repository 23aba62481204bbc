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
	Lanes            int           `json:"lanes"`      // lanes of these operations
	Time             time.Duration `json:"time_ns"`    // device time from the first iteration to the last check
	TimePerIteration time.Duration `json:"time_per_iteration_ns"`
}

// Solve solves Ax = b on dev. It also returns the last iterate with an error of the method (BreakdownError,
// DivergenceError, StagnationError, NotFiniteError, NotConvergedError or AccuracyError) and when ctx is done, which
// it notices at the next check. An invalid system is a ShapeError, a SymmetryError or a NotFiniteError without a
// solution, and an invalid method a MethodError.
func Solve(ctx context.Context, dev device.Device, a *sparse.CSR, b []float64, o Options) (x []float64, res Result, err error) {
	switch {
	case ctx == nil:
		return nil, res, absent.Nil("the context")
	case absent.Is(dev):
		return nil, res, absent.Nil("the device")
	case a == nil:
		return nil, res, absent.Nil("the matrix")
	}
	if err := o.complete(); err != nil {
		return nil, res, err
	}
	if o.Sampled {
		o.Observe = nil // a sampled device has no residuals
	}
	info := dev.Info()
	res = Result{
		Method: o.Method.Name, Mode: o.Mode.String(), Precision: o.Precision.String(),
		Device: info.ID, Simulated: info.Simulated, Unknowns: a.Rows, Entries: len(a.Val),
	}
	p, err := newProblem(a, b, &o)
	if err != nil {
		return nil, res, err
	}
	res.Residual, res.History = p.start, []float64{p.start}
	if res.Steps = p.steps; !p.steps {
		res.TrueResidual = p.start // computed on the CPU
	}
	if p.start <= o.Tolerance && !p.steps {
		return p.conclude(p.x0, &res), res, nil
	}
	o.Restart = min(o.Restart, a.Rows) // a basis has at most a.Rows vectors
	r, err := start(dev, p, &o)
	if err != nil {
		return nil, res, err
	}
	defer func() {
		if failed := r.close(); failed != nil {
			x, err = nil, device.Join(err, failed)
		}
	}()
	begin := dev.Now()
	if o.Sampled {
		res.History, res.Residual, res.TrueResidual = nil, 0, 0
		res.Iterations, err = r.sample(ctx, &o)
		r.timed(&res, dev.Now()-begin)
		return nil, res, err
	}
	state, stopped := r.iterate(ctx, &o)
	elapsed := dev.Now() - begin
	if r.broken(stopped) {
		return nil, res, stopped
	}
	if r.loop != nil {
		if state, err = r.look(); err != nil {
			return nil, res, err
		}
	}
	res.Iterations = int(state[stateIterations])
	r.timed(&res, elapsed)
	if x, err = r.result(p, &res); err != nil {
		return nil, res, err
	}
	if stopped != nil {
		return x, res, stopped
	}
	if state[stateCode] == exhausted && p.steps {
		return x, res, nil
	}
	return x, res, outcome(state[stateCode], x, &o, &res)
}

// maxInFlight bounds the iterations (in mode Loop, the periods) between two checks, and so the delay after ctx is
// done.
const maxInFlight = 256

// broken reports whether an error comes from the device or an invalid method, so that there is no solution.
func (r *run) broken(err error) bool {
	return err != nil && (device.CodeOf(err) != 0 || errors.Is(err, r.sys.failed()))
}

// iterate runs iterations until the method has a result.
func (r *run) iterate(ctx context.Context, o *Options) (state [stateLen]int32, err error) {
	if r.loop != nil { // a loop checks by itself
		if r.looped, err = r.loop.Run(ctx); err != nil && ctx.Err() != nil {
			r.looped, _ = r.loop.Wait(context.WithoutCancel(ctx)) // waits for iterations in flight, which change x
		}
		return state, err
	}
	period := r.sys.script.period()
	for issued := 0; ; {
		for look := min(issued+min(o.CheckEvery, maxInFlight), o.MaxIterations); issued < look; issued += period {
			if err = r.enqueue(ctx); err != nil {
				break
			}
		}
		if r.broken(err) {
			return state, err
		}
		var failed error
		if state, failed = r.look(); failed != nil {
			return state, failed
		}
		r.observe(&state, o)
		if err != nil || state[stateCode] != running || issued >= o.MaxIterations {
			return state, err
		}
	}
}

// sample runs as many iterations as requested, with the checks of a normal run.
func (r *run) sample(ctx context.Context, o *Options) (done int, err error) {
	period := r.sys.script.period()
	if r.loop != nil {
		r.looped, err = r.loop.Run(ctx)
		return r.looped.Iterations * period, err
	}
	for looked := 0; done < o.MaxIterations; {
		if err := r.enqueue(ctx); err != nil {
			return done, err
		}
		if done += period; done-looked >= o.CheckEvery || done >= o.MaxIterations {
			looked = done
			if _, err := r.look(); err != nil {
				return done, err
			}
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
	if stats := auto.StatsOf(r.sys.t); stats.Calls > 0 {
		res.Auto, res.Why = &stats, stats.Reason
	}
	if res.Iterations > 0 {
		res.TimePerIteration = elapsed / time.Duration(res.Iterations)
	}
}

// observe calls Options.Observe.
func (r *run) observe(state *[stateLen]int32, o *Options) {
	if done := int(state[stateIterations]); o.Observe != nil && done > 0 {
		square := math.Float32frombits(uint32(state[stateNorm]))
		o.Observe(done, math.Sqrt(float64(square))/r.norm)
	}
}

// result reads the solution and what is known about it.
func (r *run) result(p *problem, res *Result) ([]float64, error) {
	squares, err := r.sys.read(r.sys.history.Slice(0, int64(res.Iterations)))
	if err != nil {
		return nil, err
	}
	for _, square := range squares {
		res.History = append(res.History, math.Sqrt(square)/p.norm)
	}
	res.Residual = res.History[res.Iterations]
	x, err := r.sys.read(r.sys.solution(res.Iterations))
	if err != nil {
		return nil, err
	}
	return p.conclude(x, res), nil
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
