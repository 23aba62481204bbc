package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed bias_clamp.ptx
var biasClampPTX string

var biasClamp = &Kernel{Name: "bias_clamp", File: "bias_clamp.ptx", PTX: biasClampPTX, Params: []Param{
	pointer("out", ir.Write), pointer("x", ir.Read), pointer("bias", ir.Read),
	scalar("parts", ir.I32), scalar("channels", ir.I32), scalar("places", ir.I32),
	scalar("low", ir.F32), scalar("high", ir.F32),
}}

// BiasClampShape is the launch shape of bias_clamp, which computes
//
//	for l := range channels {
//		for p := range places {
//			out[l][p] = min(max(bias[l]+x[0][l][p]+x[1][l][p]+…, low), high)
//		}
//	}
func BiasClampShape(blocks, threads, parts, channels, places int) (Shape, error) {
	return summed("bias_clamp", blocks, threads, parts, channels, places)
}
