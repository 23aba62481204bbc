package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed gemm_thin.ptx
var gemmThinPTX string

var gemmThin = &Kernel{Name: "gemm_thin", File: "gemm_thin.ptx", PTX: gemmThinPTX, Params: []Param{
	pointer("c", ir.Write), pointer("a", ir.Read), pointer("b", ir.Read),
	scalar("m", ir.I32), scalar("n", ir.I32), scalar("k", ir.I32),
}}

// GemmThinShape is the launch shape of gemm_thin, which computes
//
//	for i := range m {
//		for j := range n {
//			for l := range k {
//				c[i][j] += a[l][i] * b[l][j]
//			}
//		}
//	}
//
// with a block for each 32 elements of a column of c. It does not split the sums: p.Depth counts as p.K.
func GemmThinShape(p Product) (Shape, error) {
	p.Depth = p.K
	shape, err := p.shape("gemm_thin", 32, 1, 512)
	shape.Grid.X, shape.Grid.Y = shape.Grid.Y, shape.Grid.X
	return shape, err
}
