package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/internal/phrase"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// Workload is a benchmark program with a selectable size.
type Workload struct {
	Name    string
	Title   string // name in print
	Doc     string
	Unit    string
	Sizes   []int                // default sizes of a run
	Tiny    int                  // a size for which every version takes very little time
	Threads int                  // default number of threads per one-dimensional block
	Blocks  func(sms int) int    // default number of blocks of a one-dimensional grid
	Fits    func(size int) error // returns an error for a size that cannot be run

	// The parameters that only some workloads have.
	Shaped  bool // Params.Shape and Params.Kernel
	Batched bool // Params.Batch
	Blocked bool // its kernels have blocks of fixed size, so Params.Threads must be 0

	Saved bool // a program without sizes and inputs of its choice: see OfFile and OfSolver
	Loops bool // a saved program with loops or branches, in which no pass replaces buffers

	trace func(dev device.Device, p Params) (*Instance, error)
}

// Params selects how to run a workload.
type Params struct {
	Size    int
	Threads int // per one-dimensional block; 0 means the workload's default
	Blocks  int // per one-dimensional grid; 0 means the workload's rule for the device
	Memory  Memory
	Shape   Shape  // of matrices; zero means the workload's default
	Kernel  string // of matrix products; "" selects one by the shape
	Batch   int    // images per replay; 0 means 1
	// Sampled is for a device that runs only some blocks of each launch: no data are made or compared, except data
	// that determine addresses or loops.
	Sampled bool
	AsSuite bool   // see suite.go
	Seed    uint64 // of the random inputs
}

// threads lists the block sizes that are measured: those of the GrCUDA suite.
var threads = []int{32, 128, 256, 1024}

// CheckThreads returns an error for a block size that is not measured.
func CheckThreads(n int) error {
	if !slices.Contains(threads, n) {
		return fmt.Errorf("%d threads per block: use 32, 128, 256 or 1024", n)
	}
	return nil
}

// New traces the workload on dev.
func (w *Workload) New(dev device.Device, p Params) (*Instance, error) {
	err := w.Takes(&p)
	if w.Saved {
		if err == nil {
			err = w.Fits(p.Size)
		}
		if err != nil {
			return nil, err
		}
		return w.trace(dev, p)
	}
	if p.Threads == 0 {
		p.Threads = w.Threads
	}
	if p.Blocks == 0 {
		p.Blocks = w.Blocks(dev.Info().Multiprocessors)
	}
	if err == nil {
		err = w.Fits(p.Size)
	}
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

// Takes returns an error for parameters that the workload does not have.
func (w *Workload) Takes(p *Params) error {
	switch {
	case w.Saved && (p.Memory != Pinned && p.Memory != AsSaved || p.Threads != 0):
		return fmt.Errorf("%s is a saved program, whose memory and threads are in the file: leave both out", w.Name)
	case p.Shape != Shape{} && !w.Shaped:
		return fmt.Errorf("%s has no matrices of shape %v: leave the shape out", w.Name, p.Shape)
	case p.Kernel != "" && !w.Shaped:
		return fmt.Errorf("%s has no choice of kernels: leave the kernel %s out", w.Name, p.Kernel)
	case p.Kernel != "" && productKernels[p.Kernel] == nil:
		return fmt.Errorf("%s has no kernel %q: use %s", w.Name, p.Kernel, strings.Join(ProductKernels(), ", "))
	case p.Batch != 0 && !w.Batched:
		return fmt.Errorf("%s has no batch of %d images: leave the batch out", w.Name, p.Batch)
	case p.Threads != 0 && w.Blocked:
		return fmt.Errorf("%s has blocks of fixed sizes, not of %d threads: leave the threads out", w.Name, p.Threads)
	}
	return nil
}

// At returns the name of a workload with its size, if it has one: "vec at 1024".
func At(name string, size int) string {
	if size == 0 {
		return name
	}
	return fmt.Sprintf("%s at %d", name, size)
}

// Sized returns the workload at one size, which is its default and its smallest.
func (w *Workload) Sized(size int) (*Workload, error) {
	if err := w.Fits(size); err != nil {
		return nil, err
	}
	one := *w
	one.Sizes, one.Tiny = []int{size}, size
	one.Fits = func(n int) error {
		if n != size {
			return fmt.Errorf("%s has the size %d, and another size %d is given: leave one of them out", w.Name, size, n)
		}
		return nil
	}
	return &one, nil
}

// SizesOf returns the sizes of a list: the workload's default sizes for nil, and its tiny size in place of 0.
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
	Params Params // with all defaults set
	Trace  *tracer.Trace
	// Reset rewrites the inputs that a replay changes, and fills all outputs with NaN. Results of an earlier replay
	// could otherwise hide that this one omits work or does it too late.
	Reset func() error
	// Check compares the result of the last replay with the CPU reference. It returns the greatest absolute error,
	// and an error if that is too large.
	Check func() (maxError float64, err error)
	// InputHash returns the hash of the inputs, which shows that Go and C++ use the same; 0 on a sampled device.
	InputHash func() uint64

	// Measured holds the measured demands of launches; nil before Measure.
	Measured *optimizer.Measurement
	// Uncertainty is that of predicted times, relative (see package uncertainty); 0 before Measure and on a GPU.
	Uncertainty float64
	// Also lists optional passes for plans.
	Also  []string
	Count int // iterations of the trace of a solver; 0 for other workloads

	program *program
	close   func() error // frees the trace and what belongs to it; nil if that is the trace alone
}

// PTXHash returns a hash of the code of all kernels, independent of the order of loading.
func (in *Instance) PTXHash() (sum uint64) {
	for _, m := range in.Trace.Graph.Modules {
		sum += input.Hash(0, []byte(m.Source))
	}
	return sum
}

// Close frees the memory of the instance on the device.
func (in *Instance) Close() error {
	closeTrace := in.Trace.Close
	if in.close != nil {
		closeTrace = in.close
	}
	return device.Join(in.program.close(), closeTrace())
}

// Workloads lists the workloads of the GrCUDA suite, in the order tables show them.
func Workloads() []*Workload { return []*Workload{vec, bs, img, ml, hits, dl} }

// ServedWorkloads lists what inference services run for many tenants. These workloads take longer than those of the
// suite and have no C++ version, so they run only by name.
func ServedWorkloads() []*Workload { return []*Workload{sgemm, resnet18, resnet50, mobilenetV2} }

// LookupWorkload returns the workload with the given name.
func LookupWorkload(name string) (*Workload, error) {
	var names []string
	for _, w := range slices.Concat(Workloads(), ServedWorkloads()) {
		if w.Name == name {
			return w, nil
		}
		names = append(names, w.Name)
	}
	return nil, fmt.Errorf("unknown workload %q%s; there are %s", name, phrase.DidYouMean(name, names), strings.Join(names, ", "))
}

// perSM is the GrCUDA suite's rule of thumb for grids that fill the device: 8 blocks per multiprocessor.
func perSM(sms int) int { return 8 * sms }
