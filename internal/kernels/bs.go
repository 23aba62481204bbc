package kernels

import (
	_ "embed"

	"github.com/reprise-gpu/reprise/ir"
)

//go:embed bs.ptx
var bsPTX string

var bs = &Kernel{Name: "bs", File: "bs.ptx", PTX: bsPTX, Params: []Param{
	pointerTo(ir.F64, "x", ir.Read), pointerTo(ir.F64, "y", ir.Write), scalar("n", ir.I32),
	scalar("r", ir.F64), scalar("v", ir.F64), scalar("t", ir.F64), scalar("k", ir.F64),
}}

// BSShape is the launch shape of bs, which prices European calls: with spot
// prices x, rate r, volatility v, years t and strike k, and cumulative the normal
// distribution,
//
//	s := v * math.Sqrt(t)
//	for i := range n {
//		d := (math.Log(x[i]/k) + (r+v*v/2)*t) / s
//		y[i] = x[i]*cumulative(d) - k*math.Exp(-r*t)*cumulative(d-s)
//	}
func BSShape(blocks, threads, n int) (Shape, error) {
	return linear("bs", blocks, threads, n)
}
