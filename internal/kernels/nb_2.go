package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed nb_2.ptx
var nb2PTX string

var nb2 = &Kernel{Name: "nb_2", File: "nb_2.ptx", PTX: nb2PTX, Params: []Param{
	pointer("r", ir.Read), pointer("amax", ir.Write), scalar("n", ir.I32), scalar("classes", ir.I32),
}}

// NB2Shape is the launch shape of nb_2, which computes
//
//	for i := range n {
//		amax[i] = max(r[i]...)
//	}
//
// A thread takes whole rows.
func NB2Shape(blocks, threads, n, classes int) (Shape, error) {
	return rows("nb_2", blocks, threads, n, classes)
}
