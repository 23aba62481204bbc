// Package unit names the execution units of a multiprocessor. The interpreter
// counts the instructions of a kernel by unit, and the time model contains the number of
// each that a device completes in a cycle. These names are all that the two share.
package unit

// Unit is a row of the table of arithmetic throughput in the CUDA C++
// Programming Guide, or one of the units it leaves out.
type Unit uint8

const (
	FP32      Unit = iota // float add, multiply, fused multiply-add
	FP64                  // the same in double precision
	FP16                  // the same on halves; a pair counts once
	Integer               // add, logic, shift, compare, select, minimum, maximum
	Multiply              // integer multiply, multiply-add
	Special               // rcp, rsqrt, sqrt, ex2, lg2, sin, cos, tanh
	Convert               // between types of at most 32 bits
	Convert64             // from and to types of 64 bits
	Bits                  // popc, clz, brev, bfind
	Memory                // loads, stores, atomics; one for each wavefront
	Shuffle               // between the lanes of a warp
	Vote                  // votes and matches
	Branch                // control flow and barriers
	Tensor                // matrix multiply-accumulate
	Texture               // texture and surface accesses
	Count                 // how many units there are
)

var names = [Count]string{
	"fp32", "fp64", "fp16", "integer", "multiply", "special", "convert", "convert64", "bits",
	"memory", "shuffle", "vote", "branch", "tensor", "texture",
}

func (u Unit) String() string { return names[u] }

// Work is how many warp instructions each unit completes.
type Work [Count]float64

// Add adds n times o.
func (w *Work) Add(o *Work, n float64) {
	for u := range w {
		w[u] += n * o[u]
	}
}

// Total is the warp instructions of all units together: what the schedulers issue.
func (w *Work) Total() (sum float64) {
	for _, n := range w {
		sum += n
	}
	return sum
}
