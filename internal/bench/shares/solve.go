package shares

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// solved is a solver as a program. A request solves the system. Its stages are the loading of the initial guess, and
// then rounds of iterations, all of one trace. Between two rounds the host checks the residual.
type solved struct {
	a *sparse.CSR
	b []float64
	o solver.Options
	// alone is the solution of a run alone, and iterations their number; alone is nil before prepare.
	alone      []float64
	iterations int
	// limited is set if a request ends with the last of MaxIterations, although the residual may still be large.
	limited bool
}

// OfSolver returns the program of a solver. The host works for a time behind each request. A request has the iterations of a
// solution alone, which must succeed; with limited, it has at most o.MaxIterations.
func OfSolver(name string, a *sparse.CSR, b []float64, o solver.Options, limited bool, gap time.Duration) Program {
	return Program{Name: name, solved: &solved{a: a, b: b, o: o, limited: limited}, gap: gap}
}

// prepare solves the system alone, on a device that runs all blocks. A sampled device computes no residuals, so it does not
// find the end of the iterations.
func (s *solved) prepare(ctx context.Context, open func(sampled bool) (device.Device, error)) (err error) {
	if s == nil || s.alone != nil {
		return nil
	}
	dev, err := open(false)
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	x, res, err := solver.Solve(ctx, dev, s.a, s.b, s.o)
	if failed := new(solver.NotConvergedError); err != nil && !(s.limited && errors.As(err, &failed)) {
		return err
	}
	s.alone, s.iterations = x, res.Iterations
	return nil
}

// open makes an instance. sampled states that the device computes no results.
func (s *solved) open(dev device.Device, name string, gap time.Duration, sampled bool) (_ *instance, err error) {
	o := s.o
	o.Sampled = sampled
	it, err := solver.Record(dev, s.a, s.b, o)
	if err != nil {
		return nil, err
	}
	loading, free, err := initial(dev, it.Trace)
	in := &instance{name: name, dev: dev, reset: it.Load}
	in.check = func() error { return s.check(it) }
	in.close = func() error { return device.Join(free(), it.Close()) }
	before := dev.Now()
	if err == nil {
		_, err = it.Check()
	}
	if err != nil {
		return nil, device.Join(err, in.close())
	}
	check, round := dev.Now()-before, &planned{it.Trace, it.Trace.Graph}
	in.stages = []stage{{ops: loading}}
	for range (s.iterations + it.Count - 1) / it.Count {
		in.stages = append(in.stages, stage{planned: round, gap: check})
	}
	in.stages[len(in.stages)-1].gap = gap
	return in, nil
}

// initial returns copies that restore the present contents of the memory that a trace keeps from one replay to the next.
func initial(dev device.Device, trace traced.Program) (copies []op, free func() error, err error) {
	var images []device.Ptr
	free = func() (err error) {
		for _, p := range images {
			err = device.Join(err, dev.Free(p))
		}
		return err
	}
	bound := traced.Of(trace)
	for i, b := range bound.Recorded().Buffers {
		if b.Role != ir.InOut {
			continue
		}
		at, size := bound.Pointer(ir.BufferID(i)), b.Size()
		data := make([]byte, size)
		image, err := dev.Alloc(size)
		if err != nil {
			return nil, free, err
		}
		images = append(images, image)
		if err := device.Join(dev.Read(data, at), dev.Write(image, data)); err != nil {
			return nil, free, err
		}
		copies = append(copies, op{work: &device.Copy{Dst: at, Src: image, Bytes: size}})
	}
	return copies, free, nil
}

// check compares the solution with that of a run alone.
func (s *solved) check(it *solver.Iterations) error {
	x, res, err := it.Solution()
	if failed := new(solver.NotConvergedError); err != nil && !(s.limited && errors.As(err, &failed)) {
		return err
	}
	if res.Iterations != s.iterations {
		return fmt.Errorf("it has ended after %d iterations, and alone after %d", res.Iterations, s.iterations)
	}
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	if !slices.EqualFunc(x, s.alone, same) {
		return errors.New("the solution differs from that of a run alone")
	}
	return nil
}
