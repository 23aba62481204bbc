package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed spmv3.ptx
var spmv3PTX string

var spmv3 = &Kernel{Name: "spmv3", File: "spmv3.ptx", PTX: spmv3PTX, Params: []Param{
	pointerTo(ir.I32, "counter", ir.ReadWrite),
	pointerTo(ir.I32, "ptr", ir.Read), pointerTo(ir.I32, "idx", ir.Read), pointerTo(ir.I32, "val", ir.Read),
	pointer("vec", ir.Read), pointer("res", ir.Write), scalar("n", ir.I32),
}}

// Spmv3Shape is the launch shape of spmv3, which multiplies a vector by a matrix of
// n compressed rows:
//
//	for i := range n {
//		res[i] = 0
//		for j := ptr[i]; j < ptr[i+1]; j++ {
//			res[i] += float32(val[j]) * vec[idx[j]]
//		}
//	}
//
// Its warps take rows from *counter, which has to be 0 beforehand and is n or more
// afterwards. Threads must be a multiple of 32.
func Spmv3Shape(blocks, threads, n int) (Shape, error) {
	return warps("spmv3", blocks, threads, n)
}
