package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/cuda/kernels"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// Workload is a program worth replaying, at sizes of the user's choice.
type Workload struct {
	Name  string
	Doc   string
	Sizes []int // what a run without --size takes
	Unit  string

	// New traces the program on dev. Launch shapes follow the number of
	// multiprocessors.
	New func(dev device.Device, size int) (*Instance, error)
	// Fits reports why a size cannot be run.
	Fits func(size int) error
}

// Instance is a traced workload with its data.
type Instance struct {
	Trace *tracer.Trace
	// Reset rewrites what a replay consumes, the inputs and the accumulators, and
	// puts NaN wherever it must write: what an earlier replay left there would
	// make up for work that this one skips or does too late.
	Reset func() error
	// Check compares the result of the last replay with the CPU reference. It
	// returns the greatest absolute error, and an error where that is too large.
	Check func() (maxError float64, err error)
}

// Close frees the instance's buffers.
func (in *Instance) Close() error { return in.Trace.Close() }

// Workloads lists every workload in the order tables show them.
func Workloads() []*Workload { return []*Workload{vec, img} }

// LookupWorkload returns the workload of that name.
func LookupWorkload(name string) (*Workload, error) {
	var names []string
	for _, w := range Workloads() {
		if w.Name == name {
			return w, nil
		}
		names = append(names, w.Name)
	}
	hint := ""
	if nearest := ir.Nearest(name, names); nearest != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", nearest)
	}
	return nil, fmt.Errorf("unknown workload %q%s; there are %s", name, hint, strings.Join(names, ", "))
}

// poison returns a function that overwrites buffers of at most n elements with
// NaN.
func poison(n int) func(buffers ...tracer.Buffer) error {
	nan := slices.Repeat([]float32{float32(math.NaN())}, n)
	return func(buffers ...tracer.Buffer) error {
		for _, b := range buffers {
			if err := tracer.Write(b, nan[:b.Len()]); err != nil {
				return err
			}
		}
		return nil
	}
}

// loadKernel loads the PTX of a benchmark kernel into a trace.
func loadKernel(t *tracer.Tracer, name string) *tracer.Kernel {
	k, ok := kernels.Lookup(name)
	if !ok {
		panic("BUG: no kernel " + name)
	}
	return t.Module(k.File, k.PTX).Kernel(name)
}
