package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/advice"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/solver"
)

// adviseFlags are the flags of advise as given.
type adviseFlags struct {
	device  string
	sizes   []string
	data    dataFlags
	sample  int64
	replays int64
	budget  string
	copies  []int
	quick   bool
	measure bool
	json    string

	checkEvery int
	iterations int
}

// hostClock is time.Now, except in tests.
var hostClock = time.Now

func newAdvise() *cobra.Command {
	var f adviseFlags
	c := &cobra.Command{
		Use:   "advise " + programArg + "|METHOD:MATRIX",
		Short: "Choose a way to run a program: its own calls, streams or a graph, and how many replays pay for it",
		Long: `Advise runs a program once, serially, to measure its operations, plans it in several ways,
and predicts each. The ways:

  calls             the program's own calls, one by one on one stream
  streams           a plan over several streams, replayed by one call
  graph             a CUDA graph; with one lane, two lanes or as many as nimble takes
  graph of 4        four replays as one graph (pass unroll); renamed: with memory of its
                    own for each copy (pass rename)
  searched, merged  strategy auto, which searches lanes, and launches merged into one

Columns:

  us/replay      predicted time from the host's call to the return of its wait, virtual on
                 simulated devices; of several replays as one program, divided by their number
  gain           the time of the calls divided by that; ≈ marks a difference within the
                 uncertainty of predicted times
  prepare us     host time of recording and planning, measured, and of instantiating, predicted
  pays from      first number of replays that take no longer in total than the calls
  memory MB      device memory, if temporaries share it (pass memplan)
  without reuse  device memory, if every buffer has its own
  frontier       no other way is both quicker and smaller

A solver is a method and its matrix, as in cg:poisson2d:64. A second table compares the lowerings of
its loop: the host reads the state after each check, or ahead of the next one, graphs hold several
iterations, or the device decides in a while node. Its replays are solves.

` + programHelp(),
		Example: `  reprise advise img
  reprise advise mine.rir --copies 2,8
  reprise advise cg:poisson2d:64
  reprise advise img --size 1600 --replays 1000 --memory-budget 64MB`,
		Args:              oneArg("program"),
		ValidArgsFunction: completePrograms,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "simulated device to predict for; see reprise devices")
	c.Flags().StringSliceVar(&f.sizes, "size", nil, "problem sizes instead of the workload's first; "+tinyHelp)
	f.data.add(c)
	c.Flags().Int64Var(&f.sample, "sample", 0, sampleHelp)
	c.Flags().Int64Var(&f.replays, "replays", 0, "number of replays that the program makes; 0 is no limit")
	c.Flags().StringVar(&f.budget, "memory-budget", "", "most device memory, as in 64MB or 1.5GiB: choose the quickest way within it")
	c.Flags().IntSliceVar(&f.copies, "copies", []int{4}, "numbers of replays to try as one graph")
	c.Flags().BoolVar(&f.quick, "quick", false, "leave out the ways that search (for large programs)")
	c.Flags().IntVar(&f.checkEvery, "check-every", 16, "iterations of a solver between two checks of the host, which are one replay")
	c.Flags().IntVar(&f.iterations, "iterations", 256, "most iterations of a solve; with --measure it ends where the method does")
	c.Flags().BoolVar(&f.measure, "measure", false, "also replay each way, and compare the predicted times with those of the device")
	c.Flags().StringVar(&f.json, "json", "", "also write the advice to `FILE` as a JSON array (- for standard output)")
	return c
}

func (f *adviseFlags) run(c *cobra.Command, args []string) error {
	options, err := f.options()
	if err != nil {
		return err
	}
	if _, err := lookupProfile(f.device); err != nil {
		return err
	}
	program, system, err := f.pick(c, args[0])
	if err != nil {
		return err
	}
	config := bench.Config{Sample: f.sample}
	sizes, err := pickSizes(f.sizes, []*bench.Workload{program})
	if err == nil {
		err = errors.Join(f.data.parse(&config), checkSample(f.sample, false))
	}
	if err != nil {
		return err
	}
	if sizes == nil {
		sizes = program.Sizes[:1]
	}
	ctx, stop := interruptible(c.Context())
	defer stop()
	var all []*advice.Advice
	for _, size := range program.SizesOf(sizes) {
		a, err := f.advise(ctx, program, system, config.Params(size), options)
		if err != nil {
			return fmt.Errorf("%s: %w", bench.At(program.Name, size), err)
		}
		all = append(all, a)
	}
	return writeResults(c.OutOrStdout(), f.json, all, func(w io.Writer) error {
		for i, a := range all {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if err := a.WriteTable(w); err != nil {
				return err
			}
		}
		return nil
	})
}

// pick returns the program of an argument: as pickProgram does, or the iterations of a solver, as in cg:poisson2d:64. system is
// nil but for a solver.
func (f *adviseFlags) pick(c *cobra.Command, arg string) (program *bench.Workload, system *advice.Solver, err error) {
	name, rest, _ := strings.Cut(arg, ":")
	m, ok := methodOf(name, rest)
	if !ok || isFile(arg) {
		program, err = pickProgram(c, arg)
		return program, nil, err
	}
	if rest == "" {
		return nil, nil, usagef("%s: write the matrix behind the method, as in %s:poisson2d:64", arg, name)
	}
	a, err := readMatrix(rest)
	if err != nil {
		return nil, nil, err
	}
	o := solver.Options{Method: m, CheckEvery: f.checkEvery, MaxIterations: f.iterations}
	if err := o.Check(); err != nil {
		return nil, nil, optionFlag(err)
	}
	system = &advice.Solver{Name: arg, Matrix: a, Options: o, Iterations: f.iterations}
	return system.Workload(), system, nil
}

// options returns what is compared.
func (f *adviseFlags) options() (advice.Options, error) {
	o := advice.Options{Replays: f.replays, Copies: f.copies, Quick: f.quick, Measure: f.measure, Now: hostClock}
	if f.replays < 0 {
		return o, usagef("--replays %d: a number of replays, 1 or more, or 0 for no limit", f.replays)
	}
	for _, k := range f.copies {
		if k < 2 {
			return o, usagef("--copies %d: numbers of 2 or more", k)
		}
	}
	if f.budget == "" {
		return o, nil
	}
	var err error
	o.Budget, err = parseBytes(f.budget)
	if err != nil {
		return o, usagef("--memory-budget %s: %w", f.budget, err)
	}
	return o, nil
}

// advise traces and measures a workload and compares the ways to run it.
func (f *adviseFlags) advise(ctx context.Context, w *bench.Workload, system *advice.Solver, p bench.Params, o advice.Options) (a *advice.Advice, err error) {
	dev, err := openDevice(f.device, sim.Options{Sample: f.sample})
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	if o.Trace, err = recordingTime(w, p); err != nil {
		return nil, err
	}
	in, err := w.New(dev, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, in.Close()) }()
	if err := in.Measure(ctx, dev); err != nil {
		return nil, err
	}
	if a, err = advice.Of(ctx, dev, in, o); err != nil {
		return nil, err
	}
	a.Program, a.Size = w.Name, p.Size
	if system != nil {
		err = a.AddLoop(ctx, dev, in, system, o, func() (device.Device, error) { return openDevice(f.device, sim.Options{}) })
	}
	return a, err
}

// recordingTime returns the host's time to record a program, on a device that does nothing: with the reading of its PTX, and
// without its data.
func recordingTime(w *bench.Workload, p bench.Params) (took advice.HostTime, err error) {
	dev := null.New()
	defer func() { err = device.Join(err, dev.Close()) }()
	p.Sampled = true
	start := hostClock()
	in, err := w.New(dev, p)
	once := hostClock().Sub(start) // again, the PTX would be read already
	if err != nil {
		return took, err
	}
	return advice.HostTime{Least: once, Most: once}, in.Close()
}

// byteUnits are the units of sizes, the longest names first.
var byteUnits = []struct {
	name  string
	bytes float64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1}}

// parseBytes reads a size such as 64MB, 1.5GiB or 4096.
func parseBytes(text string) (int64, error) {
	number, unit := text, 1.0
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n*unit >= 1 && n*unit < 1<<62) {
		return 0, fmt.Errorf("write a size as in 64MB, 1.5GiB or 4096")
	}
	return int64(n * unit), nil
}
