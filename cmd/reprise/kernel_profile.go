package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// profileColumns is the help text of the table that profiles are printed as.
const profileColumns = `  regs         registers of a thread, estimated from PTX
  shared B     bytes of a block, static and dynamic
  warp insts   instructions of PTX, one for each warp that issues it
  lane insts   the same, one for each thread
  L2 B         bytes between the multiprocessors and L2
  DRAM B       bytes between L2 and the device's memory
  link B       bytes of the host's memory that the kernel reached, if any did
  occupancy    share of the device's warps that the blocks fill, and what keeps
               more from it: threads, blocks, registers or shared memory of a
               multiprocessor, or a grid that has no more
  virtual us   from when the launch may start to its end, nothing else running
  bound by     what most of that was spent on; see reprise explain
  flop/L2 B    floating-point operations for each byte: a fused multiply-add is
  flop/DRAM B  two, comparisons and conversions none`

// profileFlags are the flags of kernel profile as given.
type profileFlags struct {
	device string
	sizes  []string
	data   dataFlags
	sample int64
	json   string
}

func newKernelProfile() *cobra.Command {
	var f profileFlags
	c := &cobra.Command{
		Use:   "profile [workload...]",
		Short: "Print what each kernel of the workloads executes, moves and takes",
		Long: `Profile replays workloads on a simulated device, one operation after another, and
prints a row for each launch of a replay that differs from the others in kernel,
shape or numbers; of equal ones the mean. Caches hold what a replay leaves there.

` + profileColumns + `

For a kernel of your own, see reprise kernel run --profile.

Workloads:
` + workloadHelp(),
		Example: `  reprise kernel profile
  reprise kernel profile img --size 1024 --device sim:a100 --json img.json`,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	c.Flags().StringSliceVar(&f.sizes, "size", nil, "problem sizes instead of each workload's first; "+tinyHelp)
	f.data.add(c)
	c.Flags().Int64Var(&f.sample, "sample", 0, sampleHelp)
	c.Flags().StringVar(&f.json, "json", "", "also write the rows to `FILE` as a JSON array (- for standard output)")
	return c
}

func (f *profileFlags) run(c *cobra.Command, args []string) error {
	config, err := (&benchFlags{
		device: f.device, strategies: []string{"serial"}, backends: []string{"streams"}, sizes: f.sizes, data: f.data,
		sample: f.sample, iterations: 1, json: f.json,
	}).config(args)
	if err != nil {
		return err
	}
	if _, err := lookupProfile(f.device); err != nil {
		return err
	}
	ctx, stop := interruptible(c.Context())
	defer stop()
	var rows []bench.KernelProfile
	for _, w := range config.Workloads {
		sizes := w.SizesOf(config.Sizes)
		if config.Sizes == nil {
			sizes = sizes[:1]
		}
		for _, size := range sizes {
			p := bench.Params{Size: size, Threads: config.Threads, Memory: config.Memory, Sampled: f.sample > 0, Seed: config.Seed}
			more, err := f.profile(ctx, w, p)
			if err != nil {
				return fmt.Errorf("%s at %d: %w", w.Name, size, err)
			}
			rows = append(rows, more...)
		}
	}
	return writeResults(c.OutOrStdout(), f.json, rows, func(w io.Writer) error { return bench.WriteProfile(w, rows) })
}

func (f *profileFlags) profile(ctx context.Context, w *bench.Workload, p bench.Params) (rows []bench.KernelProfile, err error) {
	dev, err := openDevice(f.device, sim.Options{Sample: f.sample})
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	return bench.Profile(ctx, dev, w, p)
}
