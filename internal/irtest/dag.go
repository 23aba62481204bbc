package irtest

import (
	"math/rand/v2"

	"github.com/reprise-gpu/reprise/ir"
)

// RandomDAG returns a traced graph of n empty operations with costs of 0 to
// 10 µs, where each pair of operations has an after edge with probability p.
func RandomDAG(r *rand.Rand, n int, p float64) *ir.Graph {
	g := &ir.Graph{Name: "dag"}
	for v := range n {
		op := ir.Op{Kind: ir.KindEmpty, Cost: r.Int64N(10_001)}
		for u := range v {
			if r.Float64() < p {
				op.After = append(op.After, ir.OpID(u))
			}
		}
		g.Ops = append(g.Ops, op)
	}
	return g
}
