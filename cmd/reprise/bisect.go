package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/verify"
)

// bisectFlags are the flags of bisect as given.
type bisectFlags struct {
	plan       planFlags
	strategies []string
	backends   []string
	size       int
	data       dataFlags
	json       string
}

func newBisect() *cobra.Command {
	var f bisectFlags
	c := &cobra.Command{
		Use:   "bisect " + programArg,
		Short: "Find the first operation of a plan whose result differs from serial execution",
		Long: `Bisect runs a program serially and under each plan on a device, which may be a GPU. Behind
each operation it copies what the operation has written, without adding order between
operations, and compares the copies. It prints the first operation in program order whose
bytes differ, and exits with status 1.

` + programHelp(),
		Example: `  reprise bisect img
  reprise bisect img.rir --strategy nimble --backend streams --device gpu0`,
		Args:              oneArg(programArg),
		ValidArgsFunction: completePrograms,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.plan.add(c)
	c.Flags().StringSliceVar(&f.strategies, "strategy", []string{optimizer.DefaultStrategy}, strategyHelp)
	c.Flags().StringSliceVar(&f.backends, "backend", []string{"all"}, "back ends, or all: graph, streams")
	c.Flags().IntVar(&f.size, "size", 0, "problem size (default the smallest)")
	f.data.add(c)
	c.Flags().StringVar(&f.json, "json", "", "also write the results to `FILE` as a JSON array (- for standard output, instead of the text)")
	return c
}

// bisected is the result for one plan.
type bisected struct {
	Program    string             `json:"program"`
	Strategy   string             `json:"strategy"`
	Backend    string             `json:"backend"`
	Operations int                `json:"operations"`
	Difference *verify.Difference `json:"difference"` // null if there is none
}

func (f *bisectFlags) run(c *cobra.Command, arg string) (err error) {
	strategies, err := pickStrategies(f.strategies)
	if err != nil {
		return err
	}
	backends, err := pickBackends(f.backends)
	if err != nil {
		return err
	}
	w, err := pickProgram(c, arg)
	if err != nil {
		return err
	}
	params, err := paramsOf(w, f.size, &f.data, 0, "")
	if err != nil {
		return err
	}
	dev, err := openAny(f.plan.device, sim.Options{})
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	in, err := w.New(dev, params)
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, in.Close()) }()
	if err := in.Reset(); err != nil {
		return err
	}
	ctx, stop := interruptible(c.Context())
	defer stop()
	var all []bisected
	for _, strategy := range strategies {
		for _, backend := range backends {
			one, err := f.bisect(ctx, dev, in, strategy, backend)
			if err != nil {
				return fmt.Errorf("%s with %s/%v: %w", arg, strategy, backend, err)
			}
			one.Program = w.Name
			all = append(all, one)
		}
	}
	return f.report(c.OutOrStdout(), all)
}

func (f *bisectFlags) bisect(ctx context.Context, dev device.Device, in *bench.Instance, strategy string, backend graphexec.Backend) (one bisected, err error) {
	opts := optimizer.Options{Strategy: strategy, Also: f.plan.also, Streams: backend == graphexec.Streams}
	plan, err := optimizer.PlanOn(dev, in.Trace, opts)
	if err != nil {
		return one, err
	}
	one = bisected{Strategy: strategy, Backend: backend.String(), Operations: plan.Schedule.Graph.Len()}
	one.Difference, err = verify.Bisect(ctx, dev, in.Trace, plan.Schedule, backend)
	return one, err
}

func (f *bisectFlags) report(out io.Writer, all []bisected) error {
	differs := false
	err := writeResults(out, f.json, all, func(w io.Writer) error {
		for i := range all {
			one := &all[i]
			text := fmt.Sprintf("the results of all %d operations equal those of serial execution", one.Operations)
			if one.Difference != nil {
				text = one.Difference.String()
			}
			fmt.Fprintf(w, "%s %s/%s: %s\n", one.Program, one.Strategy, one.Backend, text)
		}
		return nil
	})
	for i := range all {
		differs = differs || all[i].Difference != nil
	}
	if err == nil && differs {
		err = errors.New("a plan computes other bytes than serial execution")
	}
	return err
}
