package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed sum.ptx
var sumPTX string

var sum = &Kernel{Name: "sum", File: "sum.ptx", PTX: sumPTX, Params: []Param{
	pointer("x", ir.Read), pointer("z", ir.Reduce), scalar("n", ir.I32),
}}

// SumShape is the launch shape of sum, which computes
//
//	for i := range n {
//		z[0] += x[i]
//	}
//
// in an order that depends on the shape and, on a GPU, on the run. Threads must be
// a multiple of 32.
func SumShape(blocks, threads, n int) (Shape, error) {
	return warps("sum", blocks, threads, n)
}
