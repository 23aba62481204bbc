package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed nb_4.ptx
var nb4PTX string

var nb4 = &Kernel{Name: "nb_4", File: "nb_4.ptx", PTX: nb4PTX, Params: []Param{
	pointer("r", ir.ReadWrite), pointer("l", ir.Read), scalar("n", ir.I32), scalar("classes", ir.I32),
}}

// NB4Shape is the launch shape of nb_4, which computes
//
//	for i := range n {
//		for c := range classes {
//			r[i][c] = exp(r[i][c] - l[i])
//		}
//	}
//
// A thread takes whole rows.
func NB4Shape(blocks, threads, n, classes int) (Shape, error) {
	return rows("nb_4", blocks, threads, n, classes)
}
