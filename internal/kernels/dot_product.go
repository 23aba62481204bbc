package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed dot_product.ptx
var dotProductPTX string

var dotProduct = &Kernel{Name: "dot_product", File: "dot_product.ptx", PTX: dotProductPTX, Params: []Param{
	pointer("x", ir.Read), pointer("y", ir.Read), pointer("z", ir.Reduce), scalar("n", ir.I32),
}}

// DotProductShape is the launch shape of dot_product, which computes
//
//	for i := range n {
//		z[0] += x[i] * y[i]
//	}
//
// in an order that depends on the shape and, on a GPU, on the run. Threads must be
// a multiple of 32.
func DotProductShape(blocks, threads, n int) (Shape, error) {
	return warps("dot_product", blocks, threads, n)
}
