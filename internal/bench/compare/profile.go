package compare

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/overlap"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
)

// found holds what replays in Go show in addition to their duration.
type found struct {
	bound   float64                   // us; see func bound
	overlap map[string]overlap.Shares // by key
}

// work is one operation of a replay.
type work struct {
	kind kind
	at   overlap.Span // ns
}

type kind uint8

const (
	other    kind = iota // memsets and copies on the device
	kernel               //
	transfer             // over the host link
)

// profile runs a few more replays of each strategy with each back end and records when each operation ran. A
// simulated device has a time line for every replay. On other devices events are recorded around every operation,
// which only streams permit.
func (c *Config) profile(ctx context.Context, dev device.Device, in *bench.Instance) (*found, error) {
	f := &found{overlap: map[string]overlap.Shares{}}
	for _, strategy := range c.Strategies {
		for _, backend := range c.profiled(strategy) {
			if backend != graphexec.Streams && !keepsTime(dev) {
				continue
			}
			plan, err := in.Plan(dev, strategy, backend)
			if err != nil {
				return nil, err
			}
			ran, err := look(ctx, dev, in, plan.Schedule, backend)
			if err != nil {
				return nil, fmt.Errorf("profile of %s/%v: %w", strategy, backend, err)
			}
			f.overlap[strategy+"/"+backend.String()] = shares(ran)
			if strategy == serial && backend == graphexec.Streams && bench.Control(plan.Analyzed) == 0 { // with loops, more ran than the graph has
				f.bound = bound(plan.Analyzed, plan.Schedule, ran)
			}
		}
	}
	return f, nil
}

// profiled returns the back ends to profile. The bound needs streams, because a serial replay keeps the program order
// there. A graph runs its prefetches first.
func (c *Config) profiled(strategy string) []graphexec.Backend {
	if strategy != serial || slices.Contains(c.Backends, graphexec.Streams) {
		return c.Backends
	}
	return append(slices.Clone(c.Backends), graphexec.Streams)
}

func keepsTime(dev device.Device) bool {
	_, ok := dev.(*sim.Device)
	return ok
}

// settle is the number of replays before the recorded one, for caches in their steady state.
const settle = 2

// look replays a schedule and returns when each operation ran, in the order of the schedule.
func look(ctx context.Context, dev device.Device, in *bench.Instance, s *ir.Schedule, backend graphexec.Backend) (ran []work, err error) {
	simulated, ok := dev.(*sim.Device)
	var watch *stopwatch
	if !ok {
		watch = newStopwatch(dev, in.Trace)
		dev = watch
		defer func() { err = device.Join(err, watch.close()) }()
	}
	exec, err := graphexec.Instantiate(dev, s, in.Trace, backend)
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, exec.Close()) }()
	if watch != nil {
		exec.Stream() // makes all streams begin after the first event
	}
	for i := range settle + 1 {
		if err := in.Reset(); err != nil {
			return nil, err
		}
		if i == settle && simulated != nil {
			simulated.StartTimeline()
		}
		if err := exec.Replay(ctx); err != nil {
			return nil, err
		}
		if err := exec.Wait(ctx); err != nil {
			return nil, err
		}
	}
	if simulated == nil {
		return watch.read()
	}
	return timeline(simulated), nil
}

// timeline returns the work of a simulated device since its time line started.
func timeline(dev *sim.Device) (ran []work) {
	const ns = 1000 // ps
	_, _, all := dev.Timeline()
	for _, w := range all {
		k := other
		switch {
		case w.Kind == "launch":
			k = kernel
		case w.Transfer:
			k = transfer
		}
		ran = append(ran, work{k, overlap.Span{Begin: w.Begin / ns, End: w.End / ns}})
	}
	return ran
}

func shares(ran []work) overlap.Shares {
	var kernels, transfers []overlap.Span
	for _, w := range ran {
		switch w.kind {
		case kernel:
			kernels = append(kernels, w.at)
		case transfer:
			transfers = append(transfers, w.at)
		}
	}
	return overlap.Of(kernels, transfers)
}
