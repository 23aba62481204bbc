// Package auto detects what an ordinary program of launches and copies repeats while the program runs, and
// replays it. Nothing has to be declared, and the results are the same:
//
//	t := auto.New(dev, "simulation", auto.Options{})
//	... t.Alloc, t.Launch, t.Copy, tracer.Read, as with any tracer
//	fmt.Println(auto.StatsOf(t))
//
// Calls run as in mode tracer.Direct until they repeat. The calls of two equal occurrences in a row are planned and
// instantiated, and each later occurrence is a replay.
//
// To be replayed, the calls of a repetition are held back until the last of them has arrived. If a different
// call arrives, or before Read, Write, ToHost, Alloc, Free, HostCall, Synchronize and Finish, those held back
// are submitted one by one, in order. So a program must look at results through these functions and not past
// the tracer, and may touch pinned memory after Synchronize. An error in submitting a call that was held back
// is reported when it is submitted, with the line of the call.
//
// A call is compared with the recorded one in full: kernel, shape, buffers, slices, values and line. Only
// scalars that differed between the first two occurrences may differ later; they are set in place. If buffers
// change places, a replay covers as many occurrences as bring them back.
package auto

import (
	"context"
	"errors"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// Options selects how repetitions are planned and replayed. The zero value replays them as graphs.
type Options struct {
	Backend  graphexec.Backend // form of replays: a graph or streams
	Strategy string            // of the optimizer; "" is its default, which plans quickly while the program waits
	// Measure runs each repetition twice more to plan it with the measured demand of its launches (see
	// optimizer.Measure). This pays off in programs that run for long and whose Strategy chooses by predicted times,
	// such as auto. Devices that do not count demands are planned with estimates: GPUs, and any device within a
	// wrapper of package device.
	Measure bool
}

// New starts a program on dev. The name is that of the trace in errors. If dev is nil, Err of the tracer returns
// an ir.ErrMissing.
func New(dev device.Device, name string, o Options) *tracer.Tracer {
	return start(dev, name, planner(dev, o))
}

// start starts a program. The engine plans and instantiates its repetitions.
func start(dev device.Device, name string, e engine) *tracer.Tracer {
	return traced.Watch(dev, name, func(run traced.Runner) traced.Sink { return newWatcher(dev, run, e) }).(*tracer.Tracer)
}

// planner returns an engine that plans repetitions and instantiates them on dev.
func planner(dev device.Device, o Options) engine {
	plan := optimizer.Options{Strategy: o.Strategy, Streams: o.Backend == graphexec.Streams, Custom: model.Of(dev), Frozen: true}
	return func(body *tracer.Trace) (replayer, error) {
		plan := plan
		if err := o.measure(dev, body, &plan); err != nil {
			return nil, err
		}
		result, err := optimizer.Plan(body.Graph, plan)
		if err != nil {
			return nil, err
		}
		exec, err := graphexec.Instantiate(dev, result.Schedule, body, o.Backend)
		if err != nil {
			return nil, err
		}
		return &instance{exec, body.Graph.Params}, nil
	}
}

// measure sets the measured costs of a plan if the options require them and the device can count.
func (o *Options) measure(dev device.Device, body *tracer.Trace, plan *optimizer.Options) (err error) {
	if !o.Measure {
		return nil
	}
	if plan.Measured, err = optimizer.Measure(dev, body); errors.Is(err, optimizer.ErrUncounted) {
		return nil
	}
	return err
}

// instance is the replayer of an Exec.
type instance struct {
	*graphexec.Exec
	params []ir.Param
}

func (r *instance) Replay() error { return r.Exec.Replay(context.Background()) }

func (r *instance) Wait() error { return r.Exec.Wait(context.Background()) }

// Set sets all changed parameters in one call into the device.
func (r *instance) Set(changed []ir.ParamID, values []ir.Scalar) error {
	changes := make([]graphexec.Change, len(changed))
	for i, p := range changed {
		changes[i] = graphexec.Param(r.params[p].Name, values[p])
	}
	return r.Apply(changes...)
}
