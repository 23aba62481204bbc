package kernels

import (
	_ "embed"
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed max_pooling.ptx
var maxPoolingPTX string

var maxPooling = &Kernel{Name: "max_pooling", File: "max_pooling.ptx", PTX: maxPoolingPTX, Params: []Param{
	pointer("out", ir.Write), pointer("x", ir.Read),
	scalar("planes", ir.I32), scalar("rows", ir.I32), scalar("cols", ir.I32), scalar("side", ir.I32), scalar("stride", ir.I32), scalar("pad", ir.I32),
}}

// MaxPoolingShape is the launch shape of max_pooling, which computes the greatest value of each channel in each place of
// the window. The images of a channel are planes of their own: the kernel's planes are w.Channels * w.Images.
func MaxPoolingShape(blocks, threads int, w PaddedWindow) (Shape, error) {
	if w.Pad >= w.Side {
		return Shape{}, fmt.Errorf("max_pooling: a window with side %d and padding %d: the padding is less than the side", w.Side, w.Pad)
	}
	if _, _, err := w.columns("max_pooling"); err != nil {
		return Shape{}, err
	}
	rows, cols := w.Out()
	return planes("max_pooling", blocks, threads, w.Channels*w.Images, rows*cols)
}
