package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed combine.ptx
var combinePTX string

var combine = &Kernel{Name: "combine", File: "combine.ptx", PTX: combinePTX, Params: []Param{
	pointer("x", ir.Read), pointer("y", ir.Read), pointer("mask", ir.Read), pointer("res", ir.Write), scalar("n", ir.I32),
}}

// CombineShape is the launch shape of combine, which computes
//
//	for i := range n {
//		res[i] = x[i]*mask[i] + y[i]*(1-mask[i])
//	}
func CombineShape(blocks, threads, n int) (Shape, error) {
	return linear("combine", blocks, threads, n)
}
