package compare

import (
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

// bound is the contention-free lower bound on a replay, in us: the longest path
// through the dependencies when each operation takes what it takes alone on the
// device, as if everything that may run at the same time did so at no cost, and
// nothing had to be launched. ran is a serial replay, in which each was alone and
// found in the caches what those before it had left.
func bound(g *ir.Graph, ran []work) float64 {
	ready := make([]int64, g.Len()) // ns: when an operation's last dependency ends, then its own end
	longest := int64(0)
	next := 0
	for op := range ready {
		for _, d := range g.DepsInto(ir.OpID(op)) {
			ready[op] = max(ready[op], ready[d.From])
		}
		if g.Ops[op].Kind != ir.KindEmpty {
			if next == len(ran) {
				panic(fmt.Sprintf("BUG: %s has more operations than the %d that ran", g.Name, len(ran)))
			}
			ready[op] += ran[next].at.End - ran[next].at.Begin
			next++
		}
		longest = max(longest, ready[op])
	}
	if next != len(ran) {
		panic(fmt.Sprintf("BUG: %d operations of %s ran, of %d", len(ran), g.Name, next))
	}
	return float64(longest) / 1000
}
