package compare

import (
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

// bound returns the contention-free lower bound of a replay, in us: the longest path through the dependencies, with
// the duration of each operation alone on the device. It assumes that concurrent operations do not slow each other
// down, and that launches cost nothing. ran holds the operations of a replay of the serial schedule s, in which each
// ran alone with the caches as its predecessors left them.
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
	ends := make([]int64, g.Len()) // by operation, in program order, which is topological
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
