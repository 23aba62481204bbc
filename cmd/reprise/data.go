package main

import (
	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/bench"
)

// dataFlags are the flags for the data of a workload: seed of the inputs, memory mode, and threads per block.
type dataFlags struct {
	memory  string
	threads int
	seed    uint64
}

func (f *dataFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.memory, "memory", "pinned", "memory mode: pinned (explicit copies), prefetch or managed (managed memory, with or without prefetches)")
	c.Flags().IntVar(&f.threads, "threads", 0, "threads per one-dimensional block: 32, 128, 256 or 1024 (0: the workload's own)")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "of the random inputs")
}

func (f *dataFlags) parse() (memory bench.Memory, threads int, err error) {
	if memory, err = bench.ParseMemory(f.memory); err != nil {
		return memory, threads, usageError{err}
	}
	if f.threads != 0 {
		if err := bench.CheckThreads(f.threads); err != nil {
			return memory, threads, usagef("--threads: %w", err)
		}
	}
	return memory, f.threads, nil
}
