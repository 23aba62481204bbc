package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed rr_2.ptx
var rr2PTX string

var rr2 = &Kernel{Name: "rr_2", File: "rr_2.ptx", PTX: rr2PTX, Params: []Param{
	pointer("z", ir.Read), pointer("w", ir.Read), pointer("r", ir.ReadWrite), scalar("n", ir.I32), scalar("features", ir.I32),
	scalar("classes", ir.I32),
}}

// RR2Shape is the launch shape of rr_2, which computes
//
//	for i := range n {
//		for c := range classes {
//			for q := range features {
//				r[i][c] += z[i][q] * w[c][q]
//			}
//		}
//	}
//
// A thread takes whole rows.
func RR2Shape(blocks, threads, n, features, classes int) (Shape, error) {
	return rows("rr_2", blocks, threads, n, max(features, classes))
}
