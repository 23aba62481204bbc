package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/bench/figure"
	"github.com/reprise-gpu/reprise/internal/bench/strategies"
	"github.com/reprise-gpu/reprise/optimizer"
)

// strategiesFlags are the flags of strategies as given.
type strategiesFlags struct {
	strategies []string
	device     string
	cost       string
	also       []string
	json       string
	plot       string
	iterations int64
}

func newStrategies() *cobra.Command {
	var f strategiesFlags
	c := &cobra.Command{
		Use:   "strategies {" + programArg + "}...",
		Short: "Compare the schedules of all strategies for programs",
		Long: `Strategies plans each program, a workload or a saved graph (- is standard input), with each
strategy, and prints a table of the plans. It runs nothing on a device.

  lanes, waits  streams of the schedule, and waits between them
  records       operations that another lane waits for
  predicted us  time of one replay as a graph. Without measured costs (--cost), it depends
                on the bytes that operations move, not on their instructions: use it to
                compare plans. A loop counts with as many iterations as its limit allows
                (--iterations assumes fewer)
  to bound      predicted us divided by a lower bound for all plans. The bound is the launch
                and the longest of: the critical path; the work divided by the capacity; the
                kernels that fill the device, one after another; and all operations divided
                by the number of chains that the launch pays for
  memory MB     device memory, if temporaries that are never alive at once share memory
                (opt --also memplan)
  least MB      the least memory of any such plan for these lanes and waits, or a lower bound
  planning ms   host time from the traced graph to the schedule: the least of five runs

For several graphs, it also prints on how many each strategy is the fastest, and the
geometric mean of predicted time divided by the bound. reprise trace writes traces; reprise
import writes graphs of other programs and of neural networks.`,
		Example: `  reprise strategies img.rir
  reprise strategies *.rir --device sim:v100 --json strategies.json --plot figures
  reprise strategies nasnet.rir --strategy 'nimble,roundrobin(8)'
  reprise trace img -o img.rir && reprise explain img --cost img.json && reprise strategies img.rir --cost img.json
  reprise import --network darts -o - | reprise strategies -`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s takes the names of workloads or .rir files (see %[1]s --help)", c.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: completePrograms,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringSliceVar(&f.strategies, "strategy", []string{"all"}, strategyHelp)
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to predict for; see reprise devices")
	c.Flags().StringVar(&f.cost, "cost", "declared", costHelp)
	c.Flags().Int64Var(&f.iterations, "iterations", 0, iterationsHelp)
	c.Flags().StringSliceVar(&f.also, "also", nil, alsoHelp)
	c.Flags().StringVar(&f.json, "json", "", "also write the comparisons to `FILE` as JSON (- for standard output, instead of the tables)")
	c.Flags().StringVar(&f.plot, "plot", "", "also draw a figure into `DIR`, as SVG and PNG")
	return c
}

func (f *strategiesFlags) run(c *cobra.Command, paths []string) error {
	names, err := pickStrategies(f.strategies)
	if err != nil {
		return err
	}
	profile, err := lookupProfile(f.device)
	if err != nil {
		return err
	}
	opts := optimizer.Options{Custom: profile, Also: f.also, Iterations: f.iterations}
	if err := opts.Check(); err != nil {
		return usageError{err}
	}
	if err := checkCost(f.cost); err != nil {
		return err
	}
	if f.plot != "" {
		if err := figure.Folder(f.plot); err != nil {
			return err
		}
	}
	ctx, stop := interruptible(c.Context())
	defer stop()
	var all []*strategies.Comparison
	for _, path := range paths {
		one, err := f.compare(ctx, c, path, opts, names)
		if errors.Is(err, context.Canceled) {
			return fmt.Errorf("interrupted after %d of %d graphs: %w", len(all), len(paths), err)
		}
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	return f.report(c, all)
}

func (f *strategiesFlags) compare(ctx context.Context, c *cobra.Command, path string, opts optimizer.Options, names []string) (*strategies.Comparison, error) {
	path, file, err := fileOf(c, path, f.device)
	if err != nil {
		return nil, err
	}
	g := file.Graph
	if opts.Costs, err = costModel(f.cost, g, opts.Custom); err != nil {
		return nil, err
	}
	one, err := strategies.Compare(ctx, g, opts, names)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return one, nil
}

func (f *strategiesFlags) report(c *cobra.Command, all []*strategies.Comparison) error {
	err := writeResults(c.OutOrStdout(), f.json, all, func(w io.Writer) error { return strategies.WriteTable(w, all) })
	if err != nil || f.plot == "" {
		return err
	}
	_, err = figure.WriteStrategies(f.plot, all)
	return err
}
