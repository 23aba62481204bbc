package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed nb_3.ptx
var nb3PTX string

var nb3 = &Kernel{Name: "nb_3", File: "nb_3.ptx", PTX: nb3PTX, Params: []Param{
	pointer("r", ir.Read), pointer("amax", ir.Read), pointer("l", ir.Write), scalar("n", ir.I32), scalar("classes", ir.I32),
}}

// NB3Shape is the launch shape of nb_3, which computes
//
//	for i := range n {
//		sum := float32(0)
//		for c := range classes {
//			sum += exp(r[i][c] - amax[i])
//		}
//		l[i] = log(sum) + amax[i]
//	}
//
// A thread takes whole rows.
func NB3Shape(blocks, threads, n, classes int) (Shape, error) {
	return rows("nb_3", blocks, threads, n, classes)
}
