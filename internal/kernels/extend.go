package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed extend.ptx
var extendPTX string

var extend = &Kernel{Name: "extend", File: "extend.ptx", PTX: extendPTX, Params: []Param{
	pointer("x", ir.ReadWrite), pointer("min", ir.Read), pointer("max", ir.Read), scalar("n", ir.I32),
}}

// ExtendShape is the launch shape of extend, which computes
//
//	for i := range n {
//		x[i] = min(1, 5*(x[i]-min[0])/(max[0]-min[0]))
//	}
//
// where 0/0 counts as 1: a mask without contrast becomes all ones.
func ExtendShape(blocks, threads, n int) (Shape, error) {
	return linear("extend", blocks, threads, n)
}
