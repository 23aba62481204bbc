package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed bias_add.ptx
var biasAddPTX string

var biasAdd = &Kernel{Name: "bias_add", File: "bias_add.ptx", PTX: biasAddPTX, Params: []Param{
	pointer("out", ir.Write), pointer("x", ir.Read), pointer("bias", ir.Read), pointer("y", ir.Read),
	scalar("parts", ir.I32), scalar("channels", ir.I32), scalar("places", ir.I32),
	scalar("low", ir.F32), scalar("high", ir.F32),
}}

// BiasAddShape is the launch shape of bias_add, which computes
//
//	for l := range channels {
//		for p := range places {
//			out[l][p] = min(max(bias[l]+x[0][l][p]+x[1][l][p]+…+y[l][p], low), high)
//		}
//	}
func BiasAddShape(blocks, threads, parts, channels, places int) (Shape, error) {
	return summed("bias_add", blocks, threads, parts, channels, places)
}
