package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed gemm_128x64.ptx
var gemm128x64PTX string

var gemm128x64 = &Kernel{Name: "gemm_128x64", File: "gemm_128x64.ptx", PTX: gemm128x64PTX, Params: []Param{
	pointer("c", ir.Write), pointer("a", ir.Read), pointer("b", ir.Read),
	scalar("m", ir.I32), scalar("n", ir.I32), scalar("k", ir.I32), scalar("depth", ir.I32),
}}

// Gemm128x64Shape is the launch shape of gemm_128x64, which computes, for each part z of the sums,
//
//	for i := range m {
//		for j := range n {
//			for l := z * depth; l < min(k, (z+1)*depth); l++ {
//				c[z][i][j] += a[l][i] * b[l][j]
//			}
//		}
//	}
//
// with a block for each 128 x 64 elements of c.
func Gemm128x64Shape(p Product) (Shape, error) { return p.shape("gemm_128x64", 128, 64, 512) }
