package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/bench"
)

// kernelHelp is the help text of --kernel.
var kernelHelp = "`KERNEL` of the matrix products of sgemm (default by the shape): " + strings.Join(bench.ProductKernels(), ", ")

// dataFlags are the flags for the data of a workload: seed of the inputs, memory mode, threads per block, and those that
// only some workloads have.
type dataFlags struct {
	memory  string
	threads int
	shape   string
	batch   int
	seed    uint64
}

func (f *dataFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.memory, "memory", "pinned", "memory mode: pinned (explicit copies), prefetch or managed (managed memory, with or without prefetches)")
	c.Flags().IntVar(&f.threads, "threads", 0, "threads per one-dimensional block: 32, 128, 256 or 1024 (0: the workload's own)")
	c.Flags().StringVar(&f.shape, "shape", "", "shape `MxNxK` of the matrix products of sgemm (default 256x128x1152)")
	c.Flags().IntVar(&f.batch, "batch", 0, "images per replay of a network (default 1)")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "of the random inputs")
}

// parse sets the data of c.
func (f *dataFlags) parse(c *bench.Config) (err error) {
	if c.Memory, err = bench.ParseMemory(f.memory); err != nil {
		return usageError{err}
	}
	if f.shape != "" {
		if c.Shape, err = bench.ParseShape(f.shape); err != nil {
			return usagef("--shape: %w", err)
		}
	}
	if f.batch < 0 {
		return usagef("--batch %d: at least 1 is needed", f.batch)
	}
	if f.threads != 0 {
		if err := bench.CheckThreads(f.threads); err != nil {
			return usagef("--threads: %w", err)
		}
	}
	c.Threads, c.Batch, c.Seed = f.threads, f.batch, f.seed
	return nil
}
