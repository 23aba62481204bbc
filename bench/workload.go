package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// Workload is a program worth replaying, at sizes of the user's choice.
type Workload struct {
	Name    string
	Title   string // its name in print
	Doc     string
	Unit    string
	Sizes   []int                // what a run without --size takes
	Tiny    int                  // a size that every version of it replays in no time
	Threads int                  // per one-dimensional block, where Params leave it open
	Blocks  func(sms int) int    // of a one-dimensional grid, likewise
	Fits    func(size int) error // why a size cannot be run

	trace func(dev device.Device, p Params) (*Instance, error)
}

// Params say how to run a workload.
type Params struct {
	Size    int
	Threads int // per one-dimensional block; 0: the workload's own
	Blocks  int // of a one-dimensional grid; 0: by the workload's rule for the device
	Memory  Memory
	// Sampled is for a device that runs only some blocks of each launch: no data are
	// made and none compared, except where they steer addresses or loops.
	Sampled bool
	AsSuite bool   // see suite.go
	Seed    uint64 // of the random inputs
}

// threads are the block sizes that are measured: those of the GrCUDA suite.
var threads = []int{32, 128, 256, 1024}

// CheckThreads reports why a block size is not one that is measured.
func CheckThreads(n int) error {
	if !slices.Contains(threads, n) {
		return fmt.Errorf("%d threads per block: use 32, 128, 256 or 1024", n)
	}
	return nil
}

// New traces the workload on dev.
func (w *Workload) New(dev device.Device, p Params) (*Instance, error) {
	if p.Threads == 0 {
		p.Threads = w.Threads
	}
	if p.Blocks == 0 {
		p.Blocks = w.Blocks(dev.Info().Multiprocessors)
	}
	err := w.Fits(p.Size)
	if err == nil {
		err = CheckThreads(p.Threads)
	}
	if err == nil {
		err = p.Memory.Fits(dev.Info())
	}
	if err == nil && p.AsSuite && !p.Sampled {
		err = errSuiteResults
	}
	if err != nil {
		return nil, err
	}
	return w.trace(dev, p)
}

// SizesOf says which sizes a list stands for: nil for the workload's own, and 0 in a list
// for its tiny one.
func (w *Workload) SizesOf(list []int) []int {
	if list == nil {
		return w.Sizes
	}
	sizes := slices.Clone(list)
	for i := range sizes {
		if sizes[i] == 0 {
			sizes[i] = w.Tiny
		}
	}
	return sizes
}

// Instance is a traced workload with its data.
type Instance struct {
	Params Params // with nothing left open
	Trace  *tracer.Trace
	// Reset rewrites what a replay consumes, and puts NaN wherever it must write: what
	// an earlier replay left there would make up for work that this one skips or
	// does too late.
	Reset func() error
	// Check compares the result of the last replay with the CPU reference. It
	// returns the greatest absolute error, and an error where that is too large.
	Check func() (maxError float64, err error)
	// InputHash is the hash of the inputs, by which Go and C++ know that they compute
	// with the same; 0 on a sampled device.
	InputHash func() uint64

	// Measured is what launches ask of the device, once Measure has found out.
	Measured *optimizer.Measurement
	// Also are passes that plans take besides those that run without being asked to.
	Also []string

	program *program
}

// PTXHash is a hash of the code of all kernels, in whatever order they were loaded.
func (in *Instance) PTXHash() (sum uint64) {
	for _, m := range in.Trace.Graph.Modules {
		sum += input.Hash(0, []byte(m.Source))
	}
	return sum
}

// Close frees what the instance holds on the device.
func (in *Instance) Close() error { return device.Join(in.program.close(), in.Trace.Close()) }

// Workloads lists every workload in the order tables show them.
func Workloads() []*Workload { return []*Workload{vec, bs, img, ml, hits, dl} }

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

// perSM is the rule for grids of workloads that fill the device: so many blocks for
// each multiprocessor, the GrCUDA suite's rule of thumb.
func perSM(sms int) int { return 8 * sms }
