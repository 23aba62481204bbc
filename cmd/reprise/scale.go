package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/bench/figure"
	"github.com/reprise-gpu/reprise/internal/bench/scale"
	"github.com/reprise-gpu/reprise/internal/bench/scale/programs"
	"github.com/reprise-gpu/reprise/internal/machine"
)

// scaleFlags are the flags of scale as given.
type scaleFlags struct {
	machine string
	devices []string
	execute int
	tiles   bool
	json    string
	plot    string
}

func newScale() *cobra.Command {
	var f scaleFlags
	c := &cobra.Command{
		Use:   "scale WORKLOAD[:SIZE]...",
		Short: "Distribute a program to several devices and nodes, and time its steps",
		Long: `Scale plans programs of one device for the first devices of a machine, and times their steps.
The program declares nothing: what a range of blocks accesses follows from its PTX.

Up to --execute devices, every kernel runs on simulated GPUs, all ranks in one process, and the
results are compared with a CPU reference (executed). For more devices, the plan is made and
verified in full, and its steps are timed without executing kernels (timed): what a kernel
demands is counted from a few blocks of it.

  us/step      virtual time of a step in the steady state
  efficiency   devices x time of the row with the fewest devices, over those of this row
  KB/step      bytes that devices and ranks send each other
  messages     messages between ranks, and copies between devices of a rank
  host us      real time for which the host of a rank is busy, on a device that runs nothing;
               messages are not included
  plan ms      real time of making the plan, once; verify ms of proving it
  scheduler us time that a dynamic scheduler would need for a step: a model from the costs that
               the authors of Celerity published (docs/SCALING.md)
  gain         of the plan: the longer of us/step and scheduler us, over us/step

Workloads:
` + scaledHelp(),
		Example: `  reprise scale wave:1024 --machine h200-4 --devices 1..4
  reprise scale wave:16384 nbody:65536 --machine a100-32x4 --devices 1..128 --execute 0
  reprise scale jacobi:128x4 --machine h200-128x8 --devices 1..8 --json -`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("name at least one workload, as in reprise scale wave:1024 (see reprise scale --help)")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return kindNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().StringVar(&f.machine, "machine", "h200-4", "`NAME` of a machine ("+strings.Join(machine.Names(), ", ")+"), or the path of a file that ends in .json")
	c.Flags().StringSliceVar(&f.devices, "devices", nil, "numbers of devices: a list of numbers and ranges, as in 1,2,4..32; a range doubles from its first number (default 1 to all of the machine)")
	c.Flags().IntVar(&f.execute, "execute", 8, "the greatest number of devices on which kernels are executed")
	c.Flags().BoolVar(&f.tiles, "tiles", false, "cut launches along two axes, so that a device has a tile of a matrix instead of rows")
	c.Flags().StringVar(&f.json, "json", "", "also write the rows to `FILE` as a JSON array (- for standard output)")
	c.Flags().StringVar(&f.plot, "plot", "", "also draw the speedup into `DIR`, as SVG and PNG")
	err := c.RegisterFlagCompletionFunc("machine", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return machine.Names(), cobra.ShellCompDirectiveDefault
	})
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return c
}

func kindNames() (names []string) {
	for _, k := range programs.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// scaledHelp lists the workloads.
func scaledHelp() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, k := range programs.Kinds() {
		fmt.Fprintf(t, "  %s\t%s\t%s\n", k.Name, k.Doc, k.Size())
	}
	_ = t.Flush() // a strings.Builder does not fail
	return strings.TrimRight(b.String(), "\n")
}

// run measures and reports. After an interrupt, the completed rows are still reported.
func (f *scaleFlags) run(c *cobra.Command, args []string) error {
	config, err := f.config(args)
	if err != nil {
		return err
	}
	records, err := watchedRows(c, "rows", func(ctx context.Context, update progressFunc, row func(scale.Record)) error {
		config.Progress, config.Row = update, row
		_, err := scale.Run(ctx, config)
		return err
	})
	return f.report(c.OutOrStdout(), records, config.Rows(), err)
}

// report prints the completed rows and returns the error that ends the program: stopped, if the run was interrupted or
// failed, or else the first wrong result.
func (f *scaleFlags) report(stdout io.Writer, records []scale.Record, rows int, stopped error) error {
	path, figures := f.json, f.plot
	stopped = withProgress(stopped, "after %d of %d rows", len(records), rows)
	if len(records) == 0 {
		return stopped
	}
	if stopped != nil {
		stopped = aside(stopped, &path, &figures)
	}
	failed := writeResults(stdout, path, records, func(w io.Writer) error {
		return errors.Join(scale.WriteTable(w, records), scale.WritePublished(w))
	})
	if figures != "" {
		_, err := figure.WriteScale(figures, records)
		failed = errors.Join(failed, err)
	}
	if err := errors.Join(stopped, failed); err != nil {
		return err
	}
	for i := range records {
		if r := &records[i]; r.Error != "" {
			return fmt.Errorf("%s:%s on %d devices is wrong: %s", r.Workload, r.Size, r.Devices, r.Error)
		}
	}
	return nil
}

// config checks the arguments.
func (f *scaleFlags) config(args []string) (config scale.Config, err error) {
	for _, text := range args {
		if strings.HasSuffix(text, ".rir") {
			return config, usagef("%s is a saved program, and scale takes programs that it can size: reprise run %[1]s --machine %s runs it on several devices", text, f.machine)
		}
		p, err := programs.Parse(text)
		if err != nil {
			return config, usageError{err}
		}
		config.Programs = append(config.Programs, p)
	}
	if config.Machine, err = machine.Lookup(f.machine); err != nil {
		return config, fmt.Errorf("--machine: %w", err)
	}
	if config.Devices, err = parseDevices(f.devices, config.Machine); err != nil {
		return config, err
	}
	if f.execute < 0 {
		return config, usagef("--execute %d: at least 0 is needed", f.execute)
	}
	config.Execute, config.Options.Tiles = f.execute, f.tiles
	if f.plot != "" {
		if err := figure.Folder(f.plot); err != nil {
			return config, err
		}
	}
	if f.json != "" && f.json != "-" {
		err = checkWritable(f.json)
	}
	return config, err
}

// parseDevices parses a list of numbers and ranges, in which each number is twice the one before. The result ascends.
func parseDevices(words []string, m *machine.Machine) (list []int, err error) {
	all := m.Devices()
	if len(words) == 0 {
		return doubled(nil, 1, all), nil
	}
	for _, word := range words {
		first, last, step, err := parseRange(word)
		if err != nil || first < 1 || last < first || step != 1 {
			return nil, usagef("--devices %s: write numbers and ranges of them, as in 1,2,4..32", word)
		}
		if last > all {
			return nil, usagef("--devices %s: machine %s has %d devices", word, m.ID, all)
		}
		list = doubled(list, first, last)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// doubled appends first, twice first and so on, and last.
func doubled(list []int, first, last int) []int {
	for n := first; n < last; n *= 2 {
		list = append(list, n)
	}
	return append(list, last)
}
