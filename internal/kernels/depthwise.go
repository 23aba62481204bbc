package kernels

import (
	_ "embed"
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed depthwise.ptx
var depthwisePTX string

var depthwise = &Kernel{Name: "depthwise", File: "depthwise.ptx", PTX: depthwisePTX, Params: []Param{
	pointer("out", ir.Write), pointer("x", ir.Read), pointer("weights", ir.Read), pointer("bias", ir.Read),
	scalar("channels", ir.I32), scalar("images", ir.I32), scalar("rows", ir.I32), scalar("cols", ir.I32), scalar("stride", ir.I32),
	scalar("low", ir.F32), scalar("high", ir.F32),
}}

// DepthwiseShape is the launch shape of depthwise, which computes, for each place of a window of 3 x 3 pixels with a
// padding of 1, at (i, j) of its image,
//
//	sum := bias[l]
//	for di := range 3 {
//		for dj := range 3 {
//			sum += weights[l][di][dj] * x[l][s][i+di][j+dj]
//		}
//	}
//	out[l][s][place] = min(max(sum, low), high)
//
// where pixels outside of the image count as 0.
func DepthwiseShape(blocks, threads int, w PaddedWindow) (Shape, error) {
	if w.Side != 3 || w.Pad != 1 {
		return Shape{}, fmt.Errorf("depthwise: a window with side %d and padding %d: it has side 3 and padding 1", w.Side, w.Pad)
	}
	_, places, err := w.columns("depthwise")
	if err != nil {
		return Shape{}, err
	}
	return planes("depthwise", blocks, threads, w.Channels, places)
}
