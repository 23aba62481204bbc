package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed square.ptx
var squarePTX string

var square = &Kernel{Name: "square", File: "square.ptx", PTX: squarePTX, Params: []Param{
	pointer("x", ir.Read), pointer("y", ir.Write), scalar("n", ir.I32),
}}

// SquareShape is the launch shape of square, which computes
//
//	for i := range n {
//		y[i] = x[i] * x[i]
//	}
func SquareShape(blocks, threads, n int) (Shape, error) {
	return linear("square", blocks, threads, n)
}
