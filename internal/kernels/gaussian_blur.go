package kernels

import (
	_ "embed"
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed gaussian_blur.ptx
var gaussianBlurPTX string

var gaussianBlur = &Kernel{Name: "gaussian_blur", File: "gaussian_blur.ptx", PTX: gaussianBlurPTX, Params: []Param{
	pointer("image", ir.Read), pointer("result", ir.Write), scalar("rows", ir.I32), scalar("cols", ir.I32),
	pointer("filter", ir.Read), scalar("diameter", ir.I32),
}}

// GaussianBlurShape is the launch shape of gaussian_blur, which computes, with
// r = diameter / 2 and pixels outside the image counting as 0,
//
//	for i := range rows {
//		for j := range cols {
//			sum := float32(0)
//			for di := -r; di <= r; di++ {
//				for dj := -r; dj <= r; dj++ {
//					sum += filter[di+r][dj+r] * image[i+di][j+dj]
//				}
//			}
//			result[i][j] = sum
//		}
//	}
//
// The grid is blocks x blocks, a block side x side threads. The diameter is odd and
// its square fits the 48 KiB of shared memory that every GPU grants: 109 at most.
func GaussianBlurShape(blocks, side, rows, cols, diameter int) (Shape, error) {
	if diameter < 1 || diameter%2 == 0 {
		return Shape{}, fmt.Errorf("gaussian_blur: diameter %d: a filter with a centre has an odd one", diameter)
	}
	if diameter > maxDiameter {
		return Shape{}, fmt.Errorf("gaussian_blur: diameter %d: the filter has to fit in %d bytes of shared memory, use at most %d",
			diameter, maxSharedBytes, maxDiameter)
	}
	shape, err := plane("gaussian_blur", blocks, side, rows, cols)
	shape.Shared = uint32(4 * diameter * diameter)
	return shape, err
}

const maxDiameter = 109 // 4*109*109 <= 48 KiB < 4*111*111
