package compare

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/bench"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench/overlap"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/sim"
)

// found is what replays in Go tell beside how long they take.
type found struct {
	bound   float64                   // us: see bound
	overlap map[string]overlap.Shares // by key
}

// work is one operation as a replay ran it.
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

// profile replays each strategy on each back end a few times more and looks when each
// operation ran. A simulated device keeps a time line of any replay. On another,
// events are recorded around every operation, which only streams allow.
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
			if strategy == serial && backend == graphexec.Streams {
				f.bound = bound(plan.Analyzed, plan.Schedule, ran)
			}
		}
	}
	return f, nil
}

// profiled are the back ends that are looked at. The bound needs streams, on which a serial
// replay keeps the order of the program: a graph has its prefetches before it.
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

// settle is how many replays go before the one that is looked at, so that it finds in
// the caches what a replay finds.
const settle = 2

// look replays a schedule and says when each operation ran, in the order of the
// schedule.
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
		exec.Stream() // so that all streams begin after the first event
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

// timeline is what a simulated device did since its time line began.
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
