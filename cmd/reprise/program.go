package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
)

// programOf returns the program of a workload's name, or of the path of a saved graph, which ends in .rir. Size 0 is the
// workload's smallest.
func programOf(c *cobra.Command, name string, size int, flags *dataFlags, sample int64) (p tenants.Program, err error) {
	if strings.HasSuffix(name, ".rir") {
		name, g, err := readGraph(c, name)
		if err != nil {
			return p, err
		}
		return tenants.OfGraph(name, g), nil
	}
	w, err := bench.LookupWorkload(name)
	if err != nil {
		return p, usageError{err}
	}
	params, err := paramsOf(w, size, flags, sample, "")
	if err != nil {
		return p, err
	}
	return tenants.OfWorkload(w, params), nil
}

// paramsOf returns the parameters of a workload. Size 0 is its smallest, and kernel "" its own.
func paramsOf(w *bench.Workload, size int, flags *dataFlags, sample int64, kernel string) (p bench.Params, err error) {
	var data bench.Config
	if err := flags.parse(&data); err != nil {
		return p, err
	}
	if size == 0 {
		size = w.Tiny
	}
	data.Sample = sample
	p = data.Params(size)
	p.Kernel = kernel
	err = w.Takes(&p)
	if err == nil {
		err = w.Fits(size)
	}
	if err != nil {
		return p, usageError{err}
	}
	return p, nil
}
