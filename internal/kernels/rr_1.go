package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed rr_1.ptx
var rr1PTX string

var rr1 = &Kernel{Name: "rr_1", File: "rr_1.ptx", PTX: rr1PTX, Params: []Param{
	pointerTo(ir.I32, "x", ir.Read), pointer("z", ir.Write), scalar("n", ir.I32), scalar("features", ir.I32),
}}

// RR1Shape is the launch shape of rr_1, which computes
//
//	for j := range features {
//		for i := range n {
//			z[i][j] = (x[i][j] - mean(x[:][j])) / deviation(x[:][j])
//		}
//	}
//
// and 0 in columns whose deviation is 0. A thread takes whole columns.
func RR1Shape(blocks, threads, n, features int) (Shape, error) {
	if err := checkMatrix("rr_1", n, features); err != nil {
		return Shape{}, err
	}
	return linear("rr_1", blocks, threads, features)
}
