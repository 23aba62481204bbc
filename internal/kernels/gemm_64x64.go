package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed gemm_64x64.ptx
var gemm64x64PTX string

var gemm64x64 = &Kernel{Name: "gemm_64x64", File: "gemm_64x64.ptx", PTX: gemm64x64PTX, Params: []Param{
	pointer("c", ir.Write), pointer("a", ir.Read), pointer("b", ir.Read),
	scalar("m", ir.I32), scalar("n", ir.I32), scalar("k", ir.I32), scalar("depth", ir.I32),
}}

// Gemm64x64Shape is the launch shape of gemm_64x64, which computes the same as gemm_128x64, with a block for each 64 x 64
// elements of c.
func Gemm64x64Shape(p Product) (Shape, error) { return p.shape("gemm_64x64", 64, 64, 256) }
