package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/traced"
)

// PlanOn plans a *tracer.Trace for the device dev that will replay it:
//
//	plan, err := optimizer.PlanOn(dev, trace, optimizer.Options{Strategy: "auto", Streams: true})
//
// The plan is for the profile of dev, unless opts names another. If the plan depends on times (strategies auto,
// search and listsched, pass merge) and opts has no costs, PlanOn calls Measure, which runs the program twice and restores
// memory. This requires a device that counts (see Measure), and inputs that have been written. Otherwise times are
// estimated as by Plan. Result.Costs names the source of the times and the reason. A program whose kernels do not
// depend on data gets the same plan every time.
func PlanOn(dev any, program traced.Program, opts Options) (*Result, error) {
	switch {
	case absent.Is(dev):
		return nil, absent.Nil("the device to plan for")
	case absent.Is(program):
		return nil, absent.Nil("the program to plan")
	}
	trace := traced.Of(program)
	if trace == nil {
		return nil, traced.ErrForeign
	}
	if opts.Custom == nil && opts.Profile == "" {
		opts.Custom = model.Of(dev)
	}
	reason := whyEstimated(dev, trace, &opts)
	if reason == "" && opts.Costs == nil && opts.Measured == nil {
		m, err := Measure(dev, program)
		if err != nil {
			return nil, err
		}
		opts.Measured = m
	}
	res, err := Plan(trace.Recorded(), opts)
	if err == nil && reason != "" {
		res.Costs += ": " + reason
	}
	return res, err
}

// whyEstimated returns why a program is planned without measured costs, or "" if it is not.
func whyEstimated(dev any, trace traced.Trace, opts *Options) string {
	_, counts := dev.(counter)
	switch {
	case opts.Costs != nil || opts.Measured != nil:
		return ""
	case !opts.choosesByTime():
		return "the strategy does not choose by time"
	case !counts:
		return "the device does not count the demands of launches"
	}
	if name := trace.Unwritten(); name != "" {
		return "@" + name + " has not been written yet"
	}
	return ""
}

// costs returns the source of the times of a plan, for Result.Costs.
func (o *Options) costs() string {
	switch {
	case o.Measured != nil && o.Costs == nil:
		return "measured on " + o.Measured.Device
	case o.guessed():
		return "estimated from bytes and shapes"
	}
	return "given"
}
