package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed softmax_columns.ptx
var softmaxColumnsPTX string

var softmaxColumns = &Kernel{Name: "softmax_columns", File: "softmax_columns.ptx", PTX: softmaxColumnsPTX, Params: []Param{
	pointer("out", ir.Write), pointer("x", ir.Read),
	scalar("classes", ir.I32), scalar("images", ir.I32),
}}

// SoftmaxColumnsShape is the launch shape of softmax_columns, which computes
//
//	for s := range images {
//		most := max(x[0][s], x[1][s], …)
//		for c := range classes {
//			out[c][s] = exp(x[c][s]-most) / (exp(x[0][s]-most) + exp(x[1][s]-most) + …)
//		}
//	}
//
// with a block of 256 threads for each image, if there are not more than blocks.
func SoftmaxColumnsShape(blocks, classes, images int) (Shape, error) {
	if err := checkMatrix("softmax_columns", classes, images); err != nil {
		return Shape{}, err
	}
	shape, err := linear("softmax_columns", blocks, 256, images)
	shape.Grid.X = tiles(blocks, 1, images)
	return shape, err
}
