package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed sobel.ptx
var sobelPTX string

var sobel = &Kernel{Name: "sobel", File: "sobel.ptx", PTX: sobelPTX, Params: []Param{
	pointer("image", ir.Read), pointer("result", ir.Write), scalar("rows", ir.I32), scalar("cols", ir.I32),
}}

// SobelShape is the launch shape of sobel, which computes, pixels outside the
// image counting as 0,
//
//	for i := range rows {
//		for j := range cols {
//			gx := image[i+1][j-1] + 2*image[i+1][j] + image[i+1][j+1] -
//				image[i-1][j-1] - 2*image[i-1][j] - image[i-1][j+1]
//			gy := image[i-1][j+1] + 2*image[i][j+1] + image[i+1][j+1] -
//				image[i-1][j-1] - 2*image[i][j-1] - image[i+1][j-1]
//			result[i][j] = sqrt(gx*gx + gy*gy)
//		}
//	}
//
// The grid is blocks x blocks, a block side x side threads.
func SobelShape(blocks, side, rows, cols int) (Shape, error) {
	return plane("sobel", blocks, side, rows, cols)
}
