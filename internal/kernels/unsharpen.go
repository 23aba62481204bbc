package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed unsharpen.ptx
var unsharpenPTX string

var unsharpen = &Kernel{Name: "unsharpen", File: "unsharpen.ptx", PTX: unsharpenPTX, Params: []Param{
	pointer("x", ir.Read), pointer("y", ir.Read), pointer("res", ir.Write), scalar("amount", ir.F32), scalar("n", ir.I32),
}}

// UnsharpenShape is the launch shape of unsharpen, which computes
//
//	for i := range n {
//		res[i] = min(1, max(0, x[i]*(1+amount)-y[i]*amount))
//	}
func UnsharpenShape(blocks, threads, n int) (Shape, error) {
	return linear("unsharpen", blocks, threads, n)
}
