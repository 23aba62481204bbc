package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed nb_1.ptx
var nb1PTX string

var nb1 = &Kernel{Name: "nb_1", File: "nb_1.ptx", PTX: nb1PTX, Params: []Param{
	pointerTo(ir.I32, "x", ir.Read), pointer("w", ir.Read), pointer("r", ir.ReadWrite), scalar("n", ir.I32), scalar("features", ir.I32),
	scalar("classes", ir.I32),
}}

// NB1Shape is the launch shape of nb_1, which computes
//
//	for i := range n {
//		for c := range classes {
//			for q := range features {
//				r[i][c] += x[i][q] * w[c][q]
//			}
//		}
//	}
//
// A thread takes whole rows.
func NB1Shape(blocks, threads, n, features, classes int) (Shape, error) {
	return rows("nb_1", blocks, threads, n, max(features, classes))
}
