package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed divide.ptx
var dividePTX string

var divide = &Kernel{Name: "divide", File: "divide.ptx", PTX: dividePTX, Params: []Param{
	pointer("x", ir.Read), pointer("y", ir.Write), pointer("val", ir.Read), scalar("n", ir.I32),
}}

// DivideShape is the launch shape of divide, which computes
//
//	for i := range n {
//		y[i] = x[i] / val[0]
//	}
func DivideShape(blocks, threads, n int) (Shape, error) {
	return linear("divide", blocks, threads, n)
}
