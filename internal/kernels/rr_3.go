package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed rr_3.ptx
var rr3PTX string

var rr3 = &Kernel{Name: "rr_3", File: "rr_3.ptx", PTX: rr3PTX, Params: []Param{
	pointer("r", ir.ReadWrite), pointer("b", ir.Read), scalar("n", ir.I32), scalar("classes", ir.I32),
}}

// RR3Shape is the launch shape of rr_3, which computes
//
//	for i := range n {
//		for c := range classes {
//			r[i][c] += b[c]
//		}
//	}
//
// A thread takes whole rows.
func RR3Shape(blocks, threads, n, classes int) (Shape, error) {
	return rows("rr_3", blocks, threads, n, classes)
}
