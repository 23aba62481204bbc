package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed reduce.ptx
var reducePTX string

var reduce = &Kernel{Name: "reduce", File: "reduce.ptx", PTX: reducePTX, Params: []Param{
	pointer("x", ir.Read), pointer("y", ir.Read), pointer("z", ir.Reduce), scalar("n", ir.I32),
}}

// ReduceShape is the launch shape of reduce, which computes
//
//	for i := range n {
//		z[0] += x[i] - y[i]
//	}
//
// in an order that depends on the shape and, on a GPU, on the run. Threads must be
// a multiple of 32.
func ReduceShape(blocks, threads, n int) (Shape, error) {
	return warps("reduce", blocks, threads, n)
}
