package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed minimum.ptx
var minimumPTX string

var minimum = &Kernel{Name: "minimum", File: "minimum.ptx", PTX: minimumPTX, Params: []Param{
	pointer("x", ir.Read), pointer("out", ir.ReadWrite), scalar("n", ir.I32),
}}

// MinimumShape is the launch shape of minimum, which computes
//
//	out[0] = min(out[0], 1000)
//	for i := range n {
//		out[0] = min(out[0], x[i])
//	}
//
// where a NaN in x is passed over and a NaN in out[0] stays. Threads must be a
// multiple of 32.
func MinimumShape(blocks, threads, n int) (Shape, error) {
	return warps("minimum", blocks, threads, n)
}
