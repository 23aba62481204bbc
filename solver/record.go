package solver

import (
	"errors"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/solver/sparse"
	"github.com/reprise-gpu/reprise/tracer"
)

// Iterations is a solver whose iterations the caller replays, for example as a program of package share beside programs
// with greater priorities:
//
//	it, err := solver.Record(dev, a, b, solver.Options{})
//	p, err := s.Program("solver", share.Priority(0), it.Trace)
//	err = s.Use(func(reprise.Device) error { return it.Load() }) // Program has run the trace, to measure it
//	for ended := false; !ended && err == nil; {
//		if err = p.Replay(ctx); err == nil {
//			err = s.Use(func(reprise.Device) error { ended, err = it.Check(); return err })
//		}
//	}
//	x, result, err := it.Solution()
//
// The solution has the bits that Solve computes: iterations after the last one change nothing.
type Iterations struct {
	Trace *tracer.Trace // Options.CheckEvery iterations, rounded up to whole periods of the method
	Count int           // the number of iterations of the trace

	run     *run
	options Options
	known   solution // without what the iterations add
}

var errNoIterations = absent.Error("the iterations are nil, zero or closed: use what Record returns")

// Record records the iterations between two checks of the host, and writes what the first one reads. Options.Mode, Lowering,
// Batch, Strategy and Also have no effect, because the caller plans the trace. Devices must be nil. Errors are those of
// Solve. It is also an error if the initial guess is a solution.
func Record(dev device.Device, a *sparse.CSR, b []float64, o Options) (*Iterations, error) {
	switch {
	case absent.Is(dev):
		return nil, absent.Nil("the device")
	case a == nil:
		return nil, absent.Nil("the matrix")
	case o.Devices != nil:
		return nil, &OptionError{"Devices", o.Devices, "iterations that the caller replays are for one device: leave it out"}
	}
	o.Mode = Graph
	if err := o.complete(); err != nil {
		return nil, err
	}
	all := make([]solution, 1)
	problems, pending, err := prepare(dev.Info(), all, []*sparse.CSR{a}, [][]float64{b}, &o)
	switch {
	case err != nil:
		return nil, err
	case len(pending) == 0:
		return nil, errors.New("the initial guess solves the system, so that there is nothing to iterate: use Solve")
	}
	r, iterate, err := setUp(dev, problems, &o)
	it := &Iterations{run: r, options: o, known: *pending[0]}
	if err == nil {
		err = it.record(iterate)
	}
	if err != nil {
		return nil, device.Join(err, r.close())
	}
	return it, nil
}

// record traces the iterations and writes what the first one reads.
func (it *Iterations) record(iterate []func()) error {
	period := it.run.period()
	periods := roundUp(min(it.options.CheckEvery, maxInFlight), period) / period
	if err := it.run.record(iterate, periods, &it.options); err != nil {
		return err
	}
	it.Trace, it.Count = it.run.trace, periods*period
	return it.Load()
}

// Load writes what the first iteration reads, so that the next replay begins anew. The trace must not be in progress.
func (it *Iterations) Load() error {
	if it == nil || it.run == nil {
		return errNoIterations
	}
	return it.run.load()
}

// Check reports whether the method has a result, or has failed. It waits for the replays in progress.
func (it *Iterations) Check() (ended bool, err error) {
	if it == nil || it.run == nil {
		return false, errNoIterations
	}
	states, err := it.run.look()
	if err != nil {
		return false, err
	}
	it.run.observe(states, &it.options)
	return !states[0].running(), nil
}

// Solution returns what Solve returns, without times. Before the method has a result, the error is a NotConvergedError.
func (it *Iterations) Solution() (x []float64, res Result, err error) {
	if it == nil || it.run == nil {
		return nil, res, errNoIterations
	}
	states, err := it.run.look()
	if err != nil {
		return nil, it.known.res, err
	}
	s := it.known
	s.res.History = slices.Clone(s.res.History)
	s.res.Iterations, s.res.Operations = int(states[0][stateIterations]), it.run.operations
	if s.x, err = it.run.systems[0].result(&s.res); err != nil {
		return nil, s.res, err
	}
	if states[0].running() {
		return s.x, s.res, &NotConvergedError{
			Method: s.res.Method, Iterations: s.res.Iterations, Residual: s.res.Residual, Tolerance: it.options.Tolerance,
			Remedy: "replay the trace until Check reports the end",
		}
	}
	return s.x, s.res, ending(states[0][stateCode], &s, it.run.systems[0].p, nil, &it.options)
}

// Close frees the trace and its memory. Close what replays the trace first.
func (it *Iterations) Close() error {
	if it == nil || it.run == nil {
		return nil
	}
	err := it.run.close()
	it.run = nil
	return err
}
