package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// runRecord is what run reports of one device.
type runRecord struct {
	Program   string  `json:"program"`
	Device    string  `json:"device"`
	Simulated bool    `json:"simulated"`
	Strategy  string  `json:"strategy"`
	Backend   string  `json:"backend"`
	Lanes     int     `json:"lanes"`
	Replays   int     `json:"replays"`
	Us        float64 `json:"us_per_replay"`
}

// onDevice runs the program on one device.
func (f *programFlags) onDevice(c *cobra.Command, arg string) error {
	backend, err := lookup("back end", graphexec.Backends()...)(f.backend)
	if err != nil {
		return usageError{err}
	}
	if err := (optimizer.Options{Strategy: f.strategy}).Check(); err != nil {
		return usageError{err}
	}
	if err := checkDevice(f.device); err != nil {
		return err
	}
	if f.json != "" && f.json != "-" {
		if err := checkWritable(f.json); err != nil {
			return err
		}
	}
	r, err := f.runnable(c, arg, f.device)
	if err != nil {
		return err
	}
	r.note(c.ErrOrStderr())
	dev, err := openAny(f.device, sim.Options{})
	if err != nil {
		return err
	}
	ctx, stop := interruptible(c.Context())
	defer stop()
	record, outs, err := f.replay(ctx, dev, r, backend)
	if err = device.Join(err, dev.Close()); err != nil {
		if errors.Is(err, context.Canceled) {
			return interrupted("before the last replay: nothing was written")
		}
		return err
	}
	if err := r.write(outs); err != nil {
		return err
	}
	return writeResults(c.OutOrStdout(), f.json, []runRecord{record}, func(w io.Writer) error {
		fmt.Fprintf(w, "%s on %s: %s with %s/%s, %.2f us each%s\n", record.Program, record.Device, counted(record.Replays, "replay"), record.Strategy, record.Backend, record.Us, inVirtualTime(record.Simulated))
		return r.print(w, outs)
	})
}

func inVirtualTime(simulated bool) string {
	if simulated {
		return " in virtual time"
	}
	return ""
}

// replay loads the program on a device, replays it, and returns the outputs.
func (f *programFlags) replay(ctx context.Context, dev device.Device, r *runnable, backend graphexec.Backend) (record runRecord, outs []output, err error) {
	trace, err := r.load(dev)
	if err != nil {
		return record, nil, err
	}
	defer func() { err = device.Join(err, trace.Close()) }()
	if err := r.start(trace, tracer.Write[byte]); err != nil {
		return record, nil, err
	}
	plan, err := optimizer.PlanOn(dev, trace, optimizer.Options{Strategy: f.strategy, Streams: backend == graphexec.Streams})
	if err != nil {
		return record, nil, fmt.Errorf("%s: %w", r.name, err)
	}
	exec, err := graphexec.Instantiate(dev, plan.Schedule, trace, backend)
	if err != nil {
		return record, nil, err
	}
	defer func() { err = device.Join(err, exec.Close()) }()
	for _, p := range r.set {
		if err := exec.Set(p.Name, p.Value); err != nil {
			return record, nil, fmt.Errorf("--set %s: %w", p.Name, err)
		}
	}
	begin := dev.Now()
	if err := exec.ReplayN(ctx, f.replays); err != nil {
		return record, nil, err
	}
	if err := exec.Wait(ctx); err != nil {
		return record, nil, err
	}
	took := dev.Now() - begin
	record = runRecord{
		Program: r.name, Device: dev.Info().ID, Simulated: dev.Info().Simulated, Strategy: plan.Schedule.Strategy, Backend: backend.String(), Lanes: plan.Schedule.Lanes,
		Replays: f.replays, Us: float64(took.Nanoseconds()) / 1000 / float64(f.replays),
	}
	outs, err = r.read(trace, tracer.Read[byte])
	return record, outs, err
}
