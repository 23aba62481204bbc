package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed softmax.ptx
var softmaxPTX string

var softmax = &Kernel{Name: "softmax", File: "softmax.ptx", PTX: softmaxPTX, Params: []Param{
	pointer("m", ir.ReadWrite), scalar("n", ir.I32), scalar("classes", ir.I32),
}}

// SoftmaxShape is the launch shape of softmax, which computes
//
//	for i := range n {
//		sum := float32(0)
//		for c := range classes {
//			sum += exp(m[i][c])
//		}
//		for c := range classes {
//			m[i][c] = exp(m[i][c]) / sum
//		}
//	}
//
// A thread takes whole rows.
func SoftmaxShape(blocks, threads, n, classes int) (Shape, error) {
	return rows("softmax", blocks, threads, n, classes)
}
