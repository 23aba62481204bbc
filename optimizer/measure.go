package optimizer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/traced"
)

// counter is a device that counts the demands of launches, as a simulated device does.
type counter interface {
	Profile() *model.Profile
	// CountLaunches calls run and returns the demands of the launches enqueued meanwhile, in the order of
	// enqueuing.
	CountLaunches(run func() error) ([]model.Demand, error)
}

// ErrUncounted is in the chain of errors that report that a device does not count the demands of launches.
// Plan for such a device without measured costs. A wrapped device never counts.
var ErrUncounted = errors.New("the device does not count the demands of launches: plan without measured costs")

// rehearsals is how often a program runs when it is measured. The last run is counted: by then, caches and managed
// memory are in the state in which they are between replays.
const rehearsals = 2

// choosesByTime reports whether a plan depends on the times of kernels and should be given measured costs: by its
// strategy, or by a pass that dependsOnTime names.
func (o *Options) choosesByTime() bool {
	name, _, _ := strings.Cut(o.Strategy, "(")
	return name == "auto" || name == "search" || name == "listsched" || slices.ContainsFunc(slices.Concat(o.Also, o.Passes), dependsOnTime)
}

// dependsOnTime reports whether the result of a pass depends on the times of kernels so much that they should be measured.
func dependsOnTime(pass string) bool {
	name, _, _ := strings.Cut(pass, "(")
	return name == "merge" || name == "slice" || name == "segment"
}

// Measure runs a *tracer.Trace on dev and returns the demands of its launches:
//
//	m, err := optimizer.Measure(dev, trace)
//	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{Strategy: "auto", Streams: true, Measured: m})
//
// PlanOn calls Measure and Plan if the device can count.
//
// Measure runs the program twice, one operation after another. Before, it copies everything that the program
// writes within the device, for which there must be free memory. Afterwards it restores memory, including
// buffers on the host. Host functions are not called. All inputs must have been written. Kernels whose work
// depends on data are measured with the current data. A kernel that accesses memory out of bounds, for
// instance for lack of its inputs, is an error of the device, as in a replay. The device must have the methods
// Profile() *model.Profile and CountLaunches(run func() error) ([]model.Demand, error), as simulated devices
// do; otherwise the error wraps ErrUncounted.
func Measure(dev any, program traced.Program) (*Measurement, error) {
	switch {
	case absent.Is(dev):
		return nil, absent.Nil("the device to measure on")
	case absent.Is(program):
		return nil, absent.Nil("the program to measure")
	}
	c, ok := dev.(counter)
	if !ok {
		return nil, ErrUncounted
	}
	var demands []model.Demand
	trace := traced.Of(program)
	if trace == nil {
		return nil, fmt.Errorf("measure: %w", traced.ErrForeign)
	}
	err := trace.Rehearse(dev, func(run func() error) error {
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
	m, err := costmodel.NewMeasurement(trace.Recorded(), c.Profile(), demands)
	if err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	return m, nil
}
