package kernels

import (
	_ "embed"
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed mean_pooling.ptx
var meanPoolingPTX string

var meanPooling = &Kernel{Name: "mean_pooling", File: "mean_pooling.ptx", PTX: meanPoolingPTX, Params: []Param{
	pointer("out", ir.Write), pointer("x", ir.Read),
	scalar("rows", ir.I32), scalar("cols", ir.I32), scalar("channels", ir.I32), scalar("diameter", ir.I32), scalar("stride", ir.I32),
}}

// MeanPoolingShape is the launch shape of mean_pooling, which computes, for every
// place of the window that lies inside the image,
//
//	for l := range channels {
//		sum := float32(0)
//		for di := range diameter {
//			for dj := range diameter {
//				sum += x[i*stride+di][j*stride+dj][l]
//			}
//		}
//		out[i][j][l] = sum / (diameter * diameter)
//	}
//
// and 0 for all others. A block has side x side x side threads.
func MeanPoolingShape(blocks, side int, w Window) (Shape, error) {
	shape, err := w.shape("mean_pooling", blocks, side, w.Channels)
	if err != nil {
		return Shape{}, err
	}
	if side*side*side > maxThreads {
		return Shape{}, fmt.Errorf("mean_pooling: blocks of %d x %d x %d threads: use a side of 1 to 10", side, side, side)
	}
	shape.Block.Z = uint32(side)
	shape.Grid.Z = tiles(blocks, side, w.Channels)
	return shape, nil
}
