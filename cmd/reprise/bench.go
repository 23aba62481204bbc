package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/bench"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/optimizer"
)

// benchFlags are the flags of bench as given.
type benchFlags struct {
	device     string
	strategies []string
	backends   []string
	sizes      []int
	iterations int
	json       string
}

func newBench() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:   "bench [workload...]",
		Short: "Replay workloads under every strategy and back end, check and compare them",
		Long: `Bench traces each workload once, plans it under each strategy, instantiates the
plan on each back end and replays it. Inputs are rewritten before every replay,
outside the time measured; the first 3 iterations are not counted. Each result
is compared with a CPU reference, and a difference beyond the tolerance fails
the run. Speedups are over the serial strategy on the same back end.

Workloads:
` + workloadHelp(),
		Example: `  reprise bench
  reprise bench img --size 512,1024 --strategy nimble --json img.json`,
		RunE: func(c *cobra.Command, args []string) error { return runBench(c, &f, args) },
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	c.Flags().StringSliceVar(&f.strategies, "strategy", []string{"all"}, "strategies, or all: "+strings.Join(strategyNames(), ", "))
	c.Flags().StringSliceVar(&f.backends, "backend", []string{"all"}, "back ends, or all: graph, streams")
	c.Flags().IntSliceVar(&f.sizes, "size", nil, "problem sizes instead of each workload's own")
	c.Flags().IntVar(&f.iterations, "iterations", 30, "replays per row, of which the first 3 are not counted")
	c.Flags().StringVar(&f.json, "json", "", "also write the rows to `FILE` as a JSON array (- for standard output)")
	return c
}

func workloadHelp() string {
	var b strings.Builder
	for _, w := range bench.Workloads() {
		fmt.Fprintf(&b, "  %-5s %s; size in %s\n", w.Name, w.Doc, w.Unit)
	}
	return strings.TrimRight(b.String(), "\n")
}

func runBench(c *cobra.Command, f *benchFlags, args []string) error {
	config, err := f.config(args)
	if err != nil {
		return err
	}
	progress := newProgress(c.ErrOrStderr())
	config.Progress = progress.update
	records, err := bench.Run(c.Context(), config)
	progress.finish()
	if len(records) > 0 {
		err = errors.Join(err, f.report(c.OutOrStdout(), records))
	}
	return err
}

// report writes what was measured, even of a run that was cut short.
func (f *benchFlags) report(stdout io.Writer, records []bench.Record) error {
	if f.json != "" {
		if err := writeJSON(f.json, stdout, records); err != nil {
			return err
		}
	}
	if f.json != "-" {
		if err := bench.WriteTable(stdout, records); err != nil {
			return err
		}
	}
	for _, r := range records {
		if !r.OK {
			return fmt.Errorf("%s at %d with %s/%s is wrong: %s", r.Workload, r.Size, r.Strategy, r.Backend, r.Error)
		}
	}
	return nil
}

// config checks the flags.
func (f *benchFlags) config(args []string) (c bench.Config, err error) {
	for _, size := range f.sizes {
		if size < 1 {
			return c, usagef("--size %d: a size is 1 or more", size)
		}
	}
	if f.iterations < 1 {
		return c, usagef("--iterations %d: at least 1 is needed", f.iterations)
	}
	if c.Workloads, err = pickWorkloads(args); err != nil {
		return c, err
	}
	if c.Strategies, err = pickStrategies(f.strategies); err != nil {
		return c, err
	}
	if c.Backends, err = pickBackends(f.backends); err != nil {
		return c, err
	}
	for _, w := range c.Workloads {
		for _, size := range f.sizes {
			if err := w.Fits(size); err != nil {
				return c, usagef("--size: %w", err)
			}
		}
	}
	c.Sizes, c.Iterations = f.sizes, f.iterations
	c.Open = func() (device.Device, error) { return openDevice(f.device) }
	return c, nil
}

func pickWorkloads(names []string) ([]*bench.Workload, error) {
	if len(names) == 0 {
		return bench.Workloads(), nil
	}
	var picked []*bench.Workload
	for _, name := range names {
		w, err := bench.LookupWorkload(name)
		if err != nil {
			return nil, usageError{err}
		}
		picked = append(picked, w)
	}
	return picked, nil
}

func strategyNames() []string {
	var names []string
	for _, s := range optimizer.Strategies() {
		names = append(names, s.Name)
	}
	return names
}

func pickStrategies(names []string) ([]string, error) {
	if isAll(names) {
		return strategyNames(), nil
	}
	for _, name := range names {
		if err := (optimizer.Options{Strategy: name}).Check(); err != nil {
			return nil, usageError{err}
		}
	}
	return names, nil
}

func pickBackends(names []string) ([]graphexec.Backend, error) {
	if isAll(names) {
		return graphexec.Backends(), nil
	}
	var picked []graphexec.Backend
	for _, name := range names {
		b, err := graphexec.ParseBackend(name)
		if err != nil {
			return nil, usageError{err}
		}
		picked = append(picked, b)
	}
	return picked, nil
}

func isAll(names []string) bool { return len(names) == 1 && names[0] == "all" }

// progress is a bar on a terminal and nothing anywhere else.
type progress struct {
	w   io.Writer
	bar *progressbar.ProgressBar
}

func newProgress(w io.Writer) *progress { return &progress{w: w} }

func (p *progress) update(what string, done, total int) {
	if !isTerminal(p.w) {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(),
			progressbar.OptionClearOnFinish())
	}
	p.bar.Describe(what)
	_ = p.bar.Set(done) // a bar that cannot be drawn must not end the run
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
