package optimizer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/ir"
)

// Recording is a recorded program that can run: a tracer.Trace.
type Recording interface {
	Program() *ir.Graph
	// Rehearse calls f with a function that runs the operations in program order and waits for them, and puts memory
	// back to what it was. No host functions are called.
	Rehearse(f func(run func() error) error) error
	// Unwritten is the name of a buffer that has to be written before the program can run, "" if there is none.
	Unwritten() string
}

// Counter is a device that counts what launches ask of it: a simulated one.
type Counter interface {
	Profile() *model.Profile
	// CountLaunches calls run and returns what each launch that was enqueued meanwhile asked of the device, in the order of
	// enqueuing.
	CountLaunches(run func() error) ([]model.Demand, error)
}

// ErrUncounted is in the chain of errors that say that a device does not count what launches ask of it. Plans for it go by
// DeclaredCosts. A wrapper of package device, such as device.WithCounting, does not count either, whatever it wraps.
var ErrUncounted = errors.New("the device does not count what launches ask of it: plan without measured costs")

// rehearsals is how often a program runs when it is measured. The last time counts: caches and managed memory are by
// then as they are from replay to replay.
const rehearsals = 2

// ChoosesByTime reports whether a strategy chooses by how long kernels take, so that it should have measured costs.
func ChoosesByTime(strategy string) bool {
	name, _, _ := strings.Cut(strategy, "(")
	return name == "auto" || name == "search" || name == "listsched"
}

// Measure runs the program on dev and returns what its launches ask of the device:
//
//	m, err := optimizer.Measure(dev, trace)
//	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Strategy: "auto", Streams: true, Measured: m})
//
// PlanOn does both where it can.
//
// It takes two runs of the program, one operation after another, and two copies within the device of all that
// the program writes, for which there must be memory. Afterwards memory is what it was, buffers on the host
// included. Host functions are not called. The inputs must have been written: kernels whose work depends on data are
// measured with the data that is there, and a kernel that goes out of bounds for want of its inputs is an error of the device, as in a
// replay. On a device that is no Counter the error wraps ErrUncounted.
func Measure(dev any, program Recording) (*Measurement, error) {
	switch {
	case absent.Is(dev):
		return nil, absent.Nil("the device to measure on")
	case absent.Is(program):
		return nil, absent.Nil("the program to measure")
	}
	c, ok := dev.(Counter)
	if !ok {
		return nil, ErrUncounted
	}
	var demands []model.Demand
	err := program.Rehearse(func(run func() error) error {
		for range rehearsals - 1 {
			if err := run(); err != nil {
				return err
			}
		}
		var err error
		demands, err = c.CountLaunches(run)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	g := program.Program()
	m := NewMeasurement(g, c.Profile())
	for v := range g.Ops {
		if g.Ops[v].Launch == nil {
			continue
		}
		if len(demands) == 0 {
			return nil, fmt.Errorf("measure: the device counted %d launches, and %s has more", len(m.Launches), g.Name)
		}
		m.Add(g, ir.OpID(v), demands[0])
		demands = demands[1:]
	}
	return m, nil
}
