package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// explainFlags are the flags of explain as given.
type explainFlags struct {
	device     string
	strategies []string
	backends   []string
	sizes      []string
	data       dataFlags
	sample     int64
	json       string
	cost       string
}

func newExplain() *cobra.Command {
	var f explainFlags
	c := &cobra.Command{
		Use:   "explain " + programArg,
		Short: "Split the time of a replay into causes",
		Long: `Explain replays a program on a simulated device and follows the critical path of one
replay from its end to its start: the operation that ended last, the gap before it, the
operation that it waited for, and so on. Each instant of the path has one cause, so the
causes add up to the time of the replay.

  compute    instructions: the schedulers or a pipe of the multiprocessors
  bandwidth  bytes from L2 or DRAM, and atomics in L2
  latency    chains of instructions and memory accesses, with too few threads to hide them
  transfer   bytes over the host link
  launch     driver calls on the host, and the start of work on the device
  sync       gaps along streams, events and graph edges, and the host's return from its wait
  queue      waits for multiprocessors or an engine in use by other work
  host       callbacks

The table of work lists for each operation its time, the part of it on the critical
path, the gap before it on the path, and its main bound. Operations without time on the
path could be slower without a longer replay. Bounds that differ from the causes:

  ramp               start of a kernel or a copy (launch)
  link in, link out  bytes from the host, and to the host (transfer)
  queued             multiprocessors or an engine are in use (queue)

With --cost, it also writes the measured demand of each kernel on the device, from a
serial replay. reprise opt --cost uses it to plan the trace of the same workload at the
same size.

` + programHelp(),
		Example: `  reprise explain img
  reprise explain img --size 512 --cost img.json
  reprise explain vec --size 65536 --strategy nimble --backend graph --device sim:a100
  reprise explain mine.rir`,
		Args:              oneArg(programArg),
		ValidArgsFunction: completePrograms,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	c.Flags().StringSliceVar(&f.strategies, "strategy", usualStrategies, strategyHelp)
	c.Flags().StringSliceVar(&f.backends, "backend", []string{"graph"}, "back ends, or all: graph, streams")
	c.Flags().StringSliceVar(&f.sizes, "size", nil, "problem sizes instead of the workload's first; "+tinyHelp)
	f.data.add(c)
	c.Flags().Int64Var(&f.sample, "sample", 0, sampleHelp)
	c.Flags().StringVar(&f.cost, "cost", "", "also write the measured demand of each kernel to `FILE.json`, for reprise opt --cost")
	c.Flags().StringVar(&f.json, "json", "", "also write the explanations to `FILE` as a JSON array (- for standard output)")
	return c
}

const sampleHelp = "run only `N` blocks of each launch and scale the counts, to predict times of large problems; results are not computed (0: run all)"

func (f *explainFlags) run(c *cobra.Command, args []string) error {
	config, err := (&benchFlags{
		device: f.device, strategies: f.strategies, backends: f.backends, sizes: f.sizes, data: f.data,
		sample: f.sample, iterations: 1, json: f.json,
	}).config(c, args)
	if err != nil {
		return err
	}
	workload := config.Workloads[0]
	sizes := workload.SizesOf(config.Sizes)
	if config.Sizes == nil {
		sizes = sizes[:1]
	}
	if err := f.checkCost(sizes); err != nil {
		return err
	}
	ctx, stop := interruptible(c.Context())
	defer stop()
	var all []bench.Explanation
	for _, size := range sizes {
		for _, backend := range config.Backends {
			for _, strategy := range config.Strategies {
				p := config.Params(size)
				x, err := f.explain(ctx, workload, p, strategy, backend)
				if err != nil {
					return fmt.Errorf("%s with %s/%s: %w", bench.At(workload.Name, size), strategy, backend, err)
				}
				all = append(all, x)
			}
		}
	}
	return f.report(c, all)
}

// checkCost refuses to write costs of several programs to one file.
func (f *explainFlags) checkCost(sizes []int) error {
	switch {
	case f.cost == "":
		return nil
	case len(sizes) > 1:
		return usagef("--cost %s holds the costs of one size: select one with --size", f.cost)
	case !strings.HasSuffix(f.cost, ".json"):
		return usagef("--cost %s: the name of the file must end in .json", f.cost)
	}
	return checkWritable(f.cost)
}

func (f *explainFlags) explain(ctx context.Context, w *bench.Workload, p bench.Params, strategy string, backend graphexec.Backend) (x bench.Explanation, err error) {
	dev, err := openDevice(f.device, sim.Options{Sample: f.sample})
	if err != nil {
		return x, err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	return bench.Explain(ctx, dev, w, p, strategy, backend)
}

func (f *explainFlags) report(c *cobra.Command, all []bench.Explanation) error {
	out := c.OutOrStdout()
	if f.cost != "" {
		if all[0].Costs == nil {
			return fmt.Errorf("--cost %s: the operations of programs with loops or branches are not measured: leave --cost out", f.cost)
		}
		if err := writeJSON(f.cost, out, all[0].Costs); err != nil {
			return err
		}
	}
	return writeResults(out, f.json, all, func(w io.Writer) error {
		for i := range all {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if err := bench.WriteExplanation(w, &all[i]); err != nil {
				return err
			}
		}
		return nil
	})
}
