package solver

import (
	"fmt"

	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/ir"
)

// Options selects how to solve. The zero value means conjugate gradients in double precision, replayed as a graph.
type Options struct {
	Method         Method // the zero value is CG
	Preconditioner Preconditioner
	Mode           Mode
	Precision      Precision
	Tolerance      float64 // of ‖b-Ax‖/‖b‖; 0 means 1e-8, or 1e-4 in single precision
	Divergence     float64 // upper limit of ‖b-Ax‖/‖b‖; 0 means 1e5
	MaxIterations  int     // 0 means 10000
	// CheckEvery is the number of iterations between two checks by the host; 0 means 16. It does not affect the
	// result. A check costs a round trip to the device, and each iteration after the last one costs its time. GMRES
	// checks at the end of a cycle. Without a Batch there is a check at least every 256 iterations, so that the
	// solver notices the end of its context soon. With a Batch, a value above MaxIterations means a single check at
	// the end.
	CheckEvery int
	X0         []float64 // initial guess; nil means 0
	// Lanes is the number of threads per row of the matrix, a power of two from 1 to 32; 0 selects it by the average
	// length of a row.
	Lanes    int
	Restart  int     // iterations between two restarts of GMRES, at most 255; 0 means 30
	Damping  float64 // of PageRank: probability of following a link; 0 means 0.85
	Step     float64 // of Heat and Wave: time step; 0 means half the greatest stable step, or less
	Strategy string  // of the optimizer; "" means auto
	// Also lists additional passes of the optimizer, such as "merge"; see optimizer.Passes.
	Also []string
	// Lowering and Batch are those of loop.Loop, for mode Loop; the zero values select what is expected to be
	// fastest. Like CheckEvery, Batch counts iterations. It must divide CheckEvery or, with lowering Unrolled, be a
	// multiple of it. If several iterations are traced as one period, such as cycles of GMRES, both are rounded up to
	// whole periods.
	Lowering loop.Lowering
	Batch    int
	// Sampled must be set if the device runs only some blocks of each launch and so computes no results. Solve then
	// runs MaxIterations, rounded up to a whole period. There is no solution; the result contains only times.
	Sampled bool
	// Devices, if not nil, is a *cluster.Rank: the devices of a machine share each iteration. The device that Solve is
	// passed is then not used and may be nil. Solve is collective: all ranks call it with the same arguments and get
	// the same results, but for the times. Mode is Graph or Streams, and Strategy and Also must be left out. A
	// method that several devices cannot share is a MethodError.
	Devices *ranks.Rank
	// Observe, if not nil, is called at each check of the host, which waits for it. The relative residual has seven
	// digits.
	Observe func(iterations int, residual float64)
}

// Mode selects how iterations reach the device.
type Mode uint8

const (
	Graph   Mode = iota // one replay of a graph per iteration
	Streams             // replays over streams; consecutive operations of a stream may form a small graph
	Eager               // single launches, without a trace
	Loop                // a loop that runs without the host as far as possible, see loop.Loop
	Auto                // single launches as in Eager; a tracer finds repetitions and replays them as graphs, see package auto
)

var modeNames = []string{Graph: "graph", Streams: "streams", Eager: "eager", Loop: "loop", Auto: "auto"}

func (m Mode) String() string { return nameOf(modeNames, int(m)) }

// Modes lists the modes in the order tables show them.
func Modes() []Mode { return []Mode{Eager, Streams, Graph, Loop, Auto} }

// Precision is the type of all numbers on the device.
type Precision uint8

const (
	Double Precision = iota // float64
	Single                  // float32
)

var precisionNames = []string{Double: "double", Single: "single"}

func (p Precision) String() string { return nameOf(precisionNames, int(p)) }

func (p Precision) elem() ir.Type {
	if p == Single {
		return ir.F32
	}
	return ir.F64
}

// Preconditioner selects an approximation of the inverse of the matrix.
type Preconditioner uint8

const (
	None   Preconditioner = iota
	Jacobi                // the inverse of the diagonal
)

var preconditionerNames = []string{None: "none", Jacobi: "jacobi"}

func (p Preconditioner) String() string { return nameOf(preconditionerNames, int(p)) }

func nameOf(names []string, i int) string {
	if i >= len(names) {
		return fmt.Sprint(i)
	}
	return names[i]
}

// Check returns an error for options that Solve refuses for every system.
func (o Options) Check() error { return o.complete() }

// complete sets default values and returns an error for invalid ones.
func (o *Options) complete() error {
	if o.Method.Trace == nil {
		o.Method = CG
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-8
		if o.Precision == Single {
			o.Tolerance = 1e-4
		}
	}
	if o.Divergence == 0 {
		o.Divergence = 1e5
	}
	if o.MaxIterations == 0 {
		o.MaxIterations = 10_000
	}
	if o.Restart == 0 {
		o.Restart = 30
	}
	if o.Damping == 0 {
		o.Damping = 0.85
	}
	if o.Strategy == "" {
		o.Strategy = "auto"
	}
	if o.CheckEvery == 0 {
		o.CheckEvery = 16
	}
	multiple := o.Batch > 0 && o.Batch%o.CheckEvery == 0 && o.Lowering == loop.Unrolled
	for _, c := range []struct {
		ok     bool
		option string
		value  any
		want   string
	}{
		{o.Tolerance > 0 && o.Tolerance < 1, "Tolerance", o.Tolerance, "use a number between 0 and 1"},
		{o.Divergence > 1, "Divergence", o.Divergence, "use more than 1"},
		{o.MaxIterations > 0 && o.MaxIterations <= maxIterations, "MaxIterations", o.MaxIterations, fmt.Sprintf("use 1 to %d", maxIterations)},
		{o.CheckEvery > 0, "CheckEvery", o.CheckEvery, "use 1 or more"},
		{o.Damping > 0 && o.Damping < 1, "Damping", o.Damping, "use a number between 0 and 1"},
		{o.Step >= 0 && finite(o.Step), "Step", o.Step, "use more than 0"},
		{o.Restart > 0 && o.Restart <= maxRestart, "Restart", o.Restart, fmt.Sprintf("use 1 to %d", maxRestart)},
		{o.Lanes >= 0 && o.Lanes <= 32 && o.Lanes&(o.Lanes-1) == 0, "Lanes", o.Lanes, "use a power of two from 1 to 32"},
		{int(o.Mode) < len(modeNames), "Mode", int(o.Mode), "there is none of that number"},
		{int(o.Precision) < len(precisionNames), "Precision", int(o.Precision), "there is none of that number"},
		{int(o.Preconditioner) < len(preconditionerNames), "Preconditioner", int(o.Preconditioner), "there is none of that number"},
		{o.Lowering <= loop.WhileNode, "Lowering", int(o.Lowering), "there is none of that number"},
		{o.Batch == 0 || o.Batch > 0 && o.CheckEvery%o.Batch == 0 || multiple, "Batch", o.Batch,
			fmt.Sprintf("use a divisor of CheckEvery (%d), or with Lowering unrolled a multiple", o.CheckEvery)},
		{o.Batch <= maxIterations, "Batch", o.Batch, fmt.Sprintf("use at most %d", maxIterations)},
	} {
		if !c.ok {
			return &OptionError{c.option, c.value, c.want}
		}
	}
	o.CheckEvery = min(o.CheckEvery, roundUp(o.MaxIterations, max(1, o.Batch)))
	return nil
}

// roundUp returns the least multiple of a number that is at least n.
func roundUp(n, of int) int { return (n + of - 1) / of * of }

// maxRestart is the limit of the kernels of GMRES.
const maxRestart = 255

// maxIterations bounds the history stored on the device.
const maxIterations = 1 << 26
