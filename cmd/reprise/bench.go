package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/phrase"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/optimizer"
)

// benchFlags are the flags of bench as given.
type benchFlags struct {
	device     string
	strategies []string
	backends   []string
	sizes      []string
	data       dataFlags
	iterations int
	sample     int64
	cost       string
	also       []string
	race       bool
	asSuite    bool
	json       string
}

func newBench() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:   "bench [" + programArg + "...]",
		Short: "Replay workloads under strategies and back ends, and check the results",
		Long: `Bench traces each workload once, plans it under each strategy, instantiates the
plan on each back end and replays it. Inputs are rewritten before every replay,
outside the measured time. The first 3 iterations are not counted. The result of
every replay is compared with a CPU reference, and a difference beyond the
tolerance fails the run. Speedups are over the serial strategy on the same back
end. With --sample, results are neither computed nor compared; the rows state this.

` + programHelp(),
		Example: `  reprise bench
  reprise bench img --size 512,1024 --strategy nimble --json img.json
  reprise bench mine.rir --strategy all`,
		ValidArgsFunction: completePrograms,
		RunE:              func(c *cobra.Command, args []string) error { return runBench(c, &f, args) },
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	c.Flags().StringSliceVar(&f.strategies, "strategy", usualStrategies, strategyHelp)
	c.Flags().StringSliceVar(&f.backends, "backend", []string{"all"}, "back ends, or all: graph, streams")
	c.Flags().StringSliceVar(&f.sizes, "size", nil, "problem sizes instead of each workload's own; "+tinyHelp)
	f.data.add(c)
	c.Flags().IntVar(&f.iterations, "iterations", 30, "replays per row; of more than 3, the first 3 are not counted")
	c.Flags().Int64Var(&f.sample, "sample", 0, sampleHelp)
	c.Flags().StringVar(&f.cost, "cost", "measured", "costs for planning: measured (demand of each launch on the simulated device in a first replay; a GPU\ndoes not provide it) or modelled (estimates from bytes and shapes)")
	c.Flags().StringSliceVar(&f.also, "also", nil, alsoHelp)
	raceFlag(c, &f.race)
	c.Flags().BoolVar(&f.asSuite, "as-suite", false, "run img, hits and dl exactly as the GrCUDA suite does (docs/BENCHMARKS.md); needs --sample, because results are not checked")
	c.Flags().StringVar(&f.json, "json", "", "also write the rows to `FILE` as a JSON array (- for standard output)")
	return c
}

// workloadHelp lists the workloads of the suite, and servedHelp those that run only by name.
func workloadHelp() string { return listWorkloads(bench.Workloads()) }

func servedHelp() string {
	return workloadHelp() + "\n\nWorkloads of inference services, only by name:\n" + listWorkloads(bench.ServedWorkloads())
}

func listWorkloads(list []*bench.Workload) string {
	var b strings.Builder
	wide := 5
	for _, w := range list {
		wide = max(wide, len(w.Name))
	}
	for _, w := range list {
		fmt.Fprintf(&b, "  %-*s %s; size in %s\n", wide, w.Name, w.Doc, w.Unit)
	}
	return strings.TrimRight(b.String(), "\n")
}

// runBench measures and reports. An interrupt ends the run at the next replay; the completed rows are still reported.
func runBench(c *cobra.Command, f *benchFlags, args []string) error {
	config, err := f.config(c, args)
	if err != nil {
		return err
	}
	records, err := watched(c, "replays", func(ctx context.Context, update progressFunc) ([]bench.Record, error) {
		config.Progress = update
		return bench.Run(ctx, config)
	})
	return f.report(c.OutOrStdout(), records, config.Rows(), err)
}

// report prints the completed rows and returns the error that ends the program:
// stopped, if the run was interrupted or failed, or else the first wrong result. The JSON of
// an incomplete run is written to FILE.partial, because FILE may hold a complete one.
func (f *benchFlags) report(stdout io.Writer, records []bench.Record, rows int, stopped error) error {
	path := f.json
	stopped = withProgress(stopped, "after %d of %d rows", len(records), rows)
	if len(records) == 0 {
		return stopped
	}
	if stopped != nil {
		stopped = aside(stopped, &path)
	}
	failed := writeResults(stdout, path, records, func(w io.Writer) error { return bench.WriteTable(w, records) })
	if err := errors.Join(stopped, failed); err != nil {
		return err
	}
	for _, r := range records {
		if !r.OK {
			return fmt.Errorf("%s with %s/%s is wrong: %s", bench.At(r.Workload, r.Size), r.Strategy, r.Backend, r.Error)
		}
	}
	if f.race && path != "-" {
		_, err := fmt.Fprintln(stdout, "no races")
		return err
	}
	return nil
}

// config checks the flags.
func (f *benchFlags) config(cmd *cobra.Command, args []string) (c bench.Config, err error) {
	if f.iterations < 1 {
		return c, usagef("--iterations %d: at least 1 is needed", f.iterations)
	}
	if c.Workloads, err = pickPrograms(cmd, args); err != nil {
		return c, err
	}
	if c.Strategies, err = pickStrategies(f.strategies); err != nil {
		return c, err
	}
	if c.Also, err = pickPasses(f.also); err != nil {
		return c, err
	}
	if c.Estimate = f.cost == "modelled"; !c.Estimate && f.cost != "measured" && f.cost != "" {
		return c, usagef("--cost %s: measured or modelled", f.cost)
	}
	if c.Backends, err = pick("backend", f.backends, graphexec.Backends(), lookup("back end", graphexec.Backends()...)); err != nil {
		return c, err
	}
	if c.Sizes, err = pickSizes(f.sizes, c.Workloads); err != nil {
		return c, err
	}
	if err := f.data.parse(&c); err != nil {
		return c, err
	}
	given := c.Params(0)
	for _, w := range c.Workloads {
		if err := w.Takes(&given); err != nil {
			return c, usageError{err}
		}
	}
	if err := checkDevice(f.device); err != nil {
		return c, err
	}
	if err := checkSample(f.sample, f.race); err != nil {
		return c, err
	}
	if f.asSuite && f.sample == 0 {
		return c, usagef("--as-suite: results differ from those of the workloads and cannot be checked: add --sample")
	}
	c.Iterations, c.Sample, c.AsSuite = f.iterations, f.sample, f.asSuite
	c.Open = func() (device.Device, error) {
		return openAny(f.device, sim.Options{Sample: f.sample, Race: raceMode(f.race)})
	}
	if f.json != "" && f.json != "-" {
		err = checkWritable(f.json) // before minutes of work, not after
	}
	return c, err
}

// distinct returns the words of a list flag, each once.
func distinct(flag string, words []string) ([]string, error) {
	var list []string
	for _, w := range words {
		if w = strings.TrimSpace(w); !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	if len(list) == 0 || slices.Contains(list, "") {
		return nil, usagef("--%s: an empty name in %q", flag, strings.Join(words, ","))
	}
	return list, nil
}

// pick looks up the words of flag --kind, each once. The word "all" selects all values.
func pick[T any](kind string, words []string, all []T, lookup func(string) (T, error)) (picked []T, err error) {
	names, err := distinct(kind, words)
	if err != nil || slices.Contains(names, "all") {
		return all, err
	}
	for _, name := range names {
		one, err := lookup(name)
		if err != nil {
			return nil, usageError{err}
		}
		picked = append(picked, one)
	}
	return picked, nil
}

// lookup returns a function that finds the value of a name among all.
func lookup[T fmt.Stringer](what string, all ...T) func(name string) (T, error) {
	return func(name string) (found T, err error) {
		var names []string
		for _, one := range all {
			if one.String() == name {
				return one, nil
			}
			names = append(names, one.String())
		}
		last := len(names) - 1
		return found, fmt.Errorf("unknown %s %q%s: use %s or %s", what, name, phrase.DidYouMean(name, names), strings.Join(names[:last], ", "), names[last])
	}
}

// usualStrategies are the baseline, serial, and the default strategy.
var usualStrategies = []string{"serial", optimizer.DefaultStrategy}

const strategyHelp = "strategies, or all; see reprise opt"

func strategyNames() []string {
	var names []string
	for _, s := range optimizer.Strategies() {
		names = append(names, s.Name)
	}
	return names
}

func pickStrategies(words []string) ([]string, error) {
	names, err := distinct("strategy", words)
	if err != nil || slices.Contains(names, "all") {
		return strategyNames(), err
	}
	for _, name := range names {
		if err := (optimizer.Options{Strategy: name}).Check(); err != nil {
			return nil, usageError{err}
		}
	}
	return names, nil
}

// pickPasses parses --also. It refuses to unroll: a replay would be several iterations, and rows are of one.
func pickPasses(also []string) ([]string, error) {
	if err := (optimizer.Options{Also: also}).Check(); err != nil {
		return nil, usageError{err}
	}
	for _, pass := range also {
		if strings.HasPrefix(pass, "unroll") {
			return nil, usagef("--also %s: a replay would run several iterations, and each row is of one: leave it out", pass)
		}
	}
	return also, nil
}

const tinyHelp = "or tiny, for the smallest size of each"

// pickSizes parses --size into sizes for bench.Workload.SizesOf, in which 0 stands for tiny.
func pickSizes(words []string, workloads []*bench.Workload) ([]int, error) {
	if words == nil {
		return nil, nil
	}
	list, err := distinct("size", words)
	if err != nil {
		return nil, err
	}
	var sizes []int
	for _, word := range list {
		if word == "tiny" {
			sizes = append(sizes, 0)
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, usagef("--size %s: a size is a whole number, 1 or more, or tiny", word)
		}
		for _, w := range workloads {
			if err := w.Fits(n); err != nil {
				return nil, usagef("--size %s: %w", word, err)
			}
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}
