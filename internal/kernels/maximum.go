package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed maximum.ptx
var maximumPTX string

var maximum = &Kernel{Name: "maximum", File: "maximum.ptx", PTX: maximumPTX, Params: []Param{
	pointer("x", ir.Read), pointer("out", ir.ReadWrite), scalar("n", ir.I32),
}}

// MaximumShape is the launch shape of maximum, which computes
//
//	out[0] = max(out[0], -1000)
//	for i := range n {
//		out[0] = max(out[0], x[i])
//	}
//
// where a NaN in x is passed over and a NaN in out[0] stays. Threads must be a
// multiple of 32.
func MaximumShape(blocks, threads, n int) (Shape, error) {
	return warps("maximum", blocks, threads, n)
}
