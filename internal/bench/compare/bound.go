package compare

import (
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

// bound is the contention-free lower bound on a replay, in us: the longest path
// through the dependencies when each operation takes what it takes alone on the
// device, as if everything that may run at the same time did so at no cost, and
// nothing had to be launched. ran is a replay of the serial schedule s, in which each was
// alone and found in the caches what those before it had left.
func bound(g *ir.Graph, s *ir.Schedule, ran []work) float64 {
	took := make([]int64, g.Len()) // ns
	next := 0
	for _, op := range s.Order {
		if g.Ops[op].Kind == ir.KindEmpty {
			continue
		}
		if next == len(ran) {
			panic(fmt.Sprintf("BUG: %s has more operations than the %d that ran", g.Name, len(ran)))
		}
		took[op] = ran[next].at.End - ran[next].at.Begin
		next++
	}
	if next != len(ran) {
		panic(fmt.Sprintf("BUG: %d operations of %s ran, of %d", len(ran), g.Name, next))
	}
	ends := make([]int64, g.Len()) // by operation, in program order, which every dependency follows
	longest := int64(0)
	for op := range ends {
		for _, d := range g.DepsInto(ir.OpID(op)) {
			ends[op] = max(ends[op], ends[d.From])
		}
		ends[op] += took[op]
		longest = max(longest, ends[op])
	}
	return float64(longest) / 1000
}
