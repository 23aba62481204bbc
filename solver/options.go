package solver

import (
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/ir"
)

// Options say how to solve. The zero value is conjugate gradients in double precision, replayed
// as a graph.
type Options struct {
	Method         Method // the zero value is CG
	Preconditioner Preconditioner
	Mode           Mode
	Precision      Precision
	Tolerance      float64 // of ‖b-Ax‖/‖b‖; 0 is 1e-8, in single precision 1e-4
	Divergence     float64 // of the same, above which to give up; 0 is 1e5
	MaxIterations  int     // 0 is 10000
	// CheckEvery is after how many iterations the host looks whether that was the last; 0 is 16. It
	// changes no result: a look costs a round trip, and each iteration past the last its time. GMRES
	// looks at the end of a cycle. Without a Batch there is a look every 256 iterations at least, so that a context ends them
	// soon; otherwise any value above MaxIterations stands for one look at the end.
	CheckEvery int
	X0         []float64 // where to start; nil is 0
	// Lanes is how many threads share a row of the matrix, a power of two from 1 to 32; 0 is
	// by the average length of a row.
	Lanes    int
	Restart  int     // iterations between two restarts of GMRES, at most 255; 0 is 30
	Damping  float64 // of PageRank, the probability of following a link; 0 is 0.85
	Step     float64 // of Heat and Wave, in time; 0 is half the greatest that is stable, or less
	Strategy string  // of the optimizer; "" is auto
	// Lowering and Batch are those of graphexec.Loop, in the mode of that name; the zero values are what is
	// expected to be quickest. A batch is so many iterations, as CheckEvery is, of which it is a divisor, or, unrolled, a
	// multiple. Where iterations are traced by periods, as cycles of GMRES are, both are rounded up to whole ones that
	// fit.
	Lowering graphexec.Lowering
	Batch    int
	// Sampled says that the device runs only some blocks of each launch and computes nothing: MaxIterations are
	// run, or some more to fill a period, there is no solution, and the result has times alone.
	Sampled bool
	// Observe, when set, is called at each look of the host, which waits for it. It has the
	// residual, relative, to seven digits.
	Observe func(iterations int, residual float64)
}

// Mode is how iterations reach the device.
type Mode uint8

const (
	Graph   Mode = iota // a replay of one graph for each
	Streams             // a replay over streams, on which what follows each other may be one small graph
	Eager               // one launch after another, as without a trace
	Loop                // in a loop that goes on by itself for as long as it can, see graphexec.Loop
	Auto                // launched as in Eager, and replayed as graphs where a tracer finds that they repeat, see tracer.Auto
)

var modeNames = []string{Graph: "graph", Streams: "streams", Eager: "eager", Loop: "loop", Auto: "auto"}

func (m Mode) String() string { return nameOf(modeNames, int(m)) }

// Modes lists the modes in the order tables show them.
func Modes() []Mode { return []Mode{Eager, Streams, Graph, Loop, Auto} }

// ParseMode returns the mode of that name.
func ParseMode(name string) (Mode, error) { return parse[Mode]("mode", modeNames, name) }

// Precision is that of everything on the device.
type Precision uint8

const (
	Double Precision = iota // float64
	Single                  // float32
)

var precisionNames = []string{Double: "double", Single: "single"}

func (p Precision) String() string { return nameOf(precisionNames, int(p)) }

// ParsePrecision returns the precision of that name.
func ParsePrecision(name string) (Precision, error) {
	return parse[Precision]("precision", precisionNames, name)
}

func (p Precision) elem() ir.Type {
	if p == Single {
		return ir.F32
	}
	return ir.F64
}

// Preconditioner is what stands for the inverse of the matrix.
type Preconditioner uint8

const (
	None   Preconditioner = iota
	Jacobi                // the inverse of the diagonal
)

var preconditionerNames = []string{None: "none", Jacobi: "jacobi"}

func (p Preconditioner) String() string { return nameOf(preconditionerNames, int(p)) }

// ParsePreconditioner returns the preconditioner of that name.
func ParsePreconditioner(name string) (Preconditioner, error) {
	return parse[Preconditioner]("preconditioner", preconditionerNames, name)
}

func nameOf(names []string, i int) string {
	if i >= len(names) {
		return fmt.Sprint(i)
	}
	return names[i]
}

func parse[T ~uint8](what string, names []string, name string) (T, error) {
	for i, n := range names {
		if n == name {
			return T(i), nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q: use %s", what, name, strings.Join(names, ", "))
}

// Check reports what Solve would not take, whatever the system.
func (o Options) Check() error { return o.complete() }

// complete fills in what was left open and reports what cannot be.
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
	multiple := o.Batch > 0 && o.Batch%o.CheckEvery == 0 && o.Lowering == graphexec.Unrolled
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
		{o.Lowering <= graphexec.WhileNode, "Lowering", int(o.Lowering), "there is none of that number"},
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

// roundUp returns the least multiple of a number that is not less than n.
func roundUp(n, of int) int { return (n + of - 1) / of * of }

// maxRestart is what the kernels of GMRES have room for.
const maxRestart = 255

// maxIterations bounds the history that the device keeps.
const maxIterations = 1 << 26
