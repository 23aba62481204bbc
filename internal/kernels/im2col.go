package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed im2col.ptx
var im2colPTX string

var im2col = &Kernel{Name: "im2col", File: "im2col.ptx", PTX: im2colPTX, Params: []Param{
	pointer("out", ir.Write), pointer("x", ir.Read),
	scalar("channels", ir.I32), scalar("images", ir.I32), scalar("rows", ir.I32), scalar("cols", ir.I32), scalar("side", ir.I32), scalar("stride", ir.I32), scalar("pad", ir.I32),
}}

// Im2colShape is the launch shape of im2col, which computes
//
//	for l := range channels {
//		for s := range images {
//			for every place of the window, at (i, j) of its image:
//				out[l*side*side+di*side+dj][place] = x[l][s][i+di][j+dj]
//		}
//	}
//
// and 0 outside of the image.
func Im2colShape(blocks, threads int, w PaddedWindow) (Shape, error) {
	rows, places, err := w.columns("im2col")
	if err != nil {
		return Shape{}, err
	}
	if err := checkMatrix("im2col", rows, places); err != nil {
		return Shape{}, err
	}
	return planes("im2col", blocks, threads, w.Channels, places)
}
