package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed argmax.ptx
var argmaxPTX string

var argmax = &Kernel{Name: "argmax", File: "argmax.ptx", PTX: argmaxPTX, Params: []Param{
	pointer("r1", ir.Read), pointer("r2", ir.Read), pointerTo(ir.I32, "r", ir.Write), scalar("n", ir.I32), scalar("classes", ir.I32),
}}

// ArgmaxShape is the launch shape of argmax, which computes
//
//	for i := range n {
//		r[i] = the first c with the greatest r1[i][c] + r2[i][c]
//	}
//
// A thread takes whole rows.
func ArgmaxShape(blocks, threads, n, classes int) (Shape, error) {
	return rows("argmax", blocks, threads, n, classes)
}
