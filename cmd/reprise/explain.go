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
		Use:   "explain WORKLOAD",
		Short: "Say where the time of a replay went",
		Long: `Explain replays a workload on a simulated device and follows the critical path of
one replay back from its end: what ended last, by what limited it; the gap before
it; what that waited for, and so on. So each instant has one cause, and the causes
add up to the makespan.

  compute    instructions: the schedulers or a pipe of the multiprocessors
  bandwidth  bytes from L2 or DRAM, and atomics in L2
  latency    chains of instructions and memory accesses, with too few threads to hide them
  transfer   bytes over the host link
  launch     the driver's calls on the host, and getting work under way on the device
  sync       gaps along streams, events and graph edges, and the host's return from its wait
  queue      waiting for multiprocessors or an engine that other work holds
  host       callbacks

The table of work has, for each operation, how long it took, how much of that is
on the critical path, the gap before it there, and what bound it for most of its
time. Work with nothing on the path could be slower and the replay as fast.

With --cost it also writes what each kernel was measured to ask of the device, in a
replay of one operation after another: reprise opt --cost plans the trace of the same
workload, at the same size, by that.

Workloads:
` + workloadHelp(),
		Example: `  reprise explain img
  reprise explain img --size 512 --cost img.json
  reprise explain vec --size 65536 --strategy nimble --backend graph --device sim:a100`,
		Args: oneArg("WORKLOAD"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	c.Flags().StringSliceVar(&f.strategies, "strategy", usualStrategies, strategyHelp)
	c.Flags().StringSliceVar(&f.backends, "backend", []string{"graph"}, "back ends, or all: graph, streams")
	c.Flags().StringSliceVar(&f.sizes, "size", nil, "problem sizes instead of the workload's first; "+tinyHelp)
	f.data.add(c)
	c.Flags().Int64Var(&f.sample, "sample", 0, sampleHelp)
	c.Flags().StringVar(&f.cost, "cost", "", "also write to `FILE.json` what the kernels were measured to ask of the device, for reprise opt --cost")
	c.Flags().StringVar(&f.json, "json", "", "also write the explanations to `FILE` as a JSON array (- for standard output)")
	return c
}

const sampleHelp = "run only `N` blocks of each launch and scale the counts: for full-size times; data are not computed (0: run all)"

func (f *explainFlags) run(c *cobra.Command, args []string) error {
	config, err := (&benchFlags{
		device: f.device, strategies: f.strategies, backends: f.backends, sizes: f.sizes, data: f.data,
		sample: f.sample, iterations: 1, json: f.json,
	}).config(args)
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
				p := bench.Params{Size: size, Threads: config.Threads, Memory: config.Memory, Sampled: f.sample > 0, Seed: config.Seed}
				x, err := f.explain(ctx, workload, p, strategy, backend)
				if err != nil {
					return fmt.Errorf("%s at %d with %s/%s: %w", workload.Name, size, strategy, backend, err)
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
		return usagef("--cost %s is for the kernels of one size: name it with --size", f.cost)
	case !strings.HasSuffix(f.cost, ".json"):
		return usagef("--cost %s: the name of a file that ends in .json", f.cost)
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
