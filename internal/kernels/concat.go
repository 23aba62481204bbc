package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed concat.ptx
var concatPTX string

var concat = &Kernel{Name: "concat", File: "concat.ptx", PTX: concatPTX, Params: []Param{
	pointer("z", ir.Write), pointer("x", ir.Read), pointer("y", ir.Read), scalar("n", ir.I32),
}}

// ConcatShape is the launch shape of concat, which computes
//
//	for i := range n {
//		z[i], z[n+i] = x[i], y[i]
//	}
func ConcatShape(blocks, threads, n int) (Shape, error) {
	return linear("concat", blocks, threads, n)
}
