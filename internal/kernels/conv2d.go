package kernels

import (
	_ "embed"
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed conv2d.ptx
var conv2DPTX string

var conv2D = &Kernel{Name: "conv2d", File: "conv2d.ptx", PTX: conv2DPTX, Params: []Param{
	pointer("out", ir.Write), pointer("x", ir.Read), pointer("weights", ir.Read),
	scalar("rows", ir.I32), scalar("cols", ir.I32), scalar("channels", ir.I32), scalar("diameter", ir.I32), scalar("filters", ir.I32), scalar("stride", ir.I32),
}}

// Conv2DShape is the launch shape of conv2d, which computes, for every place of
// the window that lies inside the image,
//
//	for m := range filters {
//		sum := float32(0)
//		for di := range diameter {
//			for dj := range diameter {
//				for l := range channels {
//					sum += weights[m][di][dj][l] * x[i*stride+di][j*stride+dj][l]
//				}
//			}
//		}
//		out[i][j][m] = max(0, sum)
//	}
//
// and 0 for all others. The weights have to fit in shared memory.
func Conv2DShape(blocks, side int, w Window, filters int) (Shape, error) {
	bytes := 4 * filters * w.Diameter * w.Diameter * w.Channels
	if filters < 1 || bytes > maxSharedBytes {
		return Shape{}, fmt.Errorf("conv2d: %d filters of %d x %d x %d weights: they have to fit in %d bytes of shared memory",
			filters, w.Diameter, w.Diameter, w.Channels, maxSharedBytes)
	}
	shape, err := w.shape("conv2d", blocks, side, filters)
	shape.Shared = uint32(bytes)
	return shape, err
}
