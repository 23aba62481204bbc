// Package auto runs an ordinary program of launches and copies, finds by itself what the program does again and
// again, and replays that:
//
//	t := auto.New(dev, "simulation", auto.Options{})
//	... t.Alloc, t.Launch, t.Copy, tracer.Read, as with any tracer
//	fmt.Println(t.AutoStats())
//
// How it finds that, and what it holds back meanwhile, is told at tracer.Auto. This package has the repetitions
// planned and instantiated.
package auto

import (
	"context"
	"errors"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// Options say what repetitions become. The zero value is graphs.
type Options struct {
	Backend  graphexec.Backend
	Strategy string // of the optimizer; "" is nimble, which takes little time to plan while the program waits
	// Measure runs each repetition twice more to plan it by what its launches ask of the device (optimizer.Measure), which
	// pays in programs that run for long over streams. Devices that do not
	// count that are planned for by estimates: GPUs, and any device within a wrapper of package device.
	Measure bool
}

// New starts a program on dev.
func New(dev device.Device, name string, o Options) *tracer.Tracer {
	return tracer.Auto(dev, name, Engine(dev, o))
}

// Engine makes repetitions replayable on dev.
func Engine(dev device.Device, o Options) tracer.Engine {
	plan := optimizer.Options{Strategy: o.Strategy, Streams: o.Backend == graphexec.Streams}
	if plan.Strategy == "" {
		plan.Strategy = "nimble"
	}
	if d, ok := dev.(interface{ Profile() *model.Profile }); ok && !absent.Is(dev) {
		plan.Custom = d.Profile()
	}
	return func(body *tracer.Trace) (tracer.Replayer, error) {
		if body == nil || body.Graph == nil {
			return nil, absent.Nil("the trace to replay")
		}
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
		return &replayer{exec, body.Graph.Params}, nil
	}
}

// measure has the plan go by measured costs, if it is to and can.
func (o *Options) measure(dev device.Device, body *tracer.Trace, plan *optimizer.Options) (err error) {
	if !o.Measure {
		return nil
	}
	if plan.Measured, err = optimizer.Measure(dev, body); errors.Is(err, optimizer.ErrUncounted) {
		return nil
	}
	return err
}

// replayer is an Exec as a tracer drives it.
type replayer struct {
	*graphexec.Exec
	params []ir.Param
}

func (r *replayer) Replay() error { return r.Exec.Replay(context.Background()) }

func (r *replayer) Wait() error { return r.Exec.Wait(context.Background()) }

// Set is one call into the device.
func (r *replayer) Set(changed []ir.ParamID, values []ir.Scalar) error {
	changes := make([]graphexec.Change, len(changed))
	for i, p := range changed {
		changes[i] = graphexec.Param(r.params[p].Name, values[p])
	}
	return r.Apply(changes...)
}
