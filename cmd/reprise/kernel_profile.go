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

// profileColumns is the help text for the columns of the table of profiles.
const profileColumns = `  regs         registers of a thread, estimated from PTX
  shared B     bytes of a block, static and dynamic
  warp insts   PTX instructions, one for each warp that issues it
  lane insts   PTX instructions, one for each thread that executes it
  L2 B         bytes between the multiprocessors and L2
  DRAM B       bytes between L2 and the device's memory
  link B       bytes of host memory that the kernel accessed, if any
  occupancy    share of the device's warps that the blocks fill, and what limits it:
               threads, blocks, registers or shared memory of a multiprocessor, or
               the size of the grid
  virtual us   from the earliest start of the launch to its end, alone on the device
  bound by     the cause of most of that time; see reprise explain
  flop/L2 B    floating-point operations per byte: a fused multiply-add counts as two,
  flop/DRAM B  comparisons and conversions as none`

// profileFlags are the flags of kernel profile as given.
type profileFlags struct {
	device string
	sizes  []string
	data   dataFlags
	kernel string
	sample int64
	json   string
}

func newKernelProfile() *cobra.Command {
	var f profileFlags
	c := &cobra.Command{
		Use:   "profile [" + programArg + "...]",
		Short: "Print instructions, bytes and time of each kernel of the workloads",
		Long: `Profile replays workloads on a simulated device, one operation after another, and
prints a row for each kernel, shape and set of counts in a replay, with the mean of equal
launches. Caches start with the contents that a replay leaves.

` + profileColumns + `

For one kernel by itself, see reprise kernel run --profile.

` + programHelp(),
		Example: `  reprise kernel profile
  reprise kernel profile img --size 1024 --device sim:a100 --json img.json
  reprise kernel profile mine.rir`,
		ValidArgsFunction: completePrograms,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	c.Flags().StringSliceVar(&f.sizes, "size", nil, "problem sizes instead of each workload's first; "+tinyHelp)
	f.data.add(c)
	c.Flags().StringVar(&f.kernel, "kernel", "", kernelHelp)
	c.Flags().Int64Var(&f.sample, "sample", 0, sampleHelp)
	c.Flags().StringVar(&f.json, "json", "", "also write the rows to `FILE` as a JSON array (- for standard output)")
	return c
}

func (f *profileFlags) run(c *cobra.Command, args []string) error {
	config, err := (&benchFlags{
		device: f.device, strategies: []string{"serial"}, backends: []string{"streams"}, sizes: f.sizes, data: f.data,
		sample: f.sample, iterations: 1, json: f.json,
	}).config(c, args)
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
			p := config.Params(size)
			p.Kernel = f.kernel
			more, err := f.profile(ctx, w, p)
			if err != nil {
				return fmt.Errorf("%s: %w", bench.At(w.Name, size), err)
			}
			rows = append(rows, more...)
		}
	}
	return writeResults(c.OutOrStdout(), f.json, rows, func(w io.Writer) error {
		if len(rows) == 0 {
			_, err := fmt.Fprintln(w, "no kernels: nothing was launched")
			return err
		}
		return bench.WriteProfile(w, rows)
	})
}

func (f *profileFlags) profile(ctx context.Context, w *bench.Workload, p bench.Params) (rows []bench.KernelProfile, err error) {
	dev, err := openDevice(f.device, sim.Options{Sample: f.sample})
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	return bench.Profile(ctx, dev, w, p)
}
