package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed plane_mean.ptx
var planeMeanPTX string

var planeMean = &Kernel{Name: "plane_mean", File: "plane_mean.ptx", PTX: planeMeanPTX, Params: []Param{
	pointer("out", ir.Write), pointer("x", ir.Read),
	scalar("planes", ir.I32), scalar("places", ir.I32),
}}

// PlaneMeanShape is the launch shape of plane_mean, which computes
//
//	for q := range planes {
//		out[q] = mean of x[q]
//	}
//
// with a warp for each plane, if there are not more than blocks.
func PlaneMeanShape(blocks, threads, planes, places int) (Shape, error) {
	if err := checkMatrix("plane_mean", planes, places); err != nil {
		return Shape{}, err
	}
	shape, err := warps("plane_mean", blocks, threads, planes)
	if err == nil {
		shape.Grid.X = tiles(blocks, threads/warpSize, planes)
	}
	return shape, err
}
