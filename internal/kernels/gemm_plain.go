package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed gemm_plain.ptx
var gemmPlainPTX string

var gemmPlain = &Kernel{Name: "gemm_plain", File: "gemm_plain.ptx", PTX: gemmPlainPTX, Params: []Param{
	pointer("c", ir.Write), pointer("a", ir.Read), pointer("b", ir.Read),
	scalar("m", ir.I32), scalar("n", ir.I32), scalar("k", ir.I32), scalar("depth", ir.I32),
}}

// GemmPlainShape is the launch shape of gemm_plain, which computes the same as gemm_128x64, with the same tiles.
func GemmPlainShape(p Product) (Shape, error) { return p.shape("gemm_plain", 128, 64, 1024) }
