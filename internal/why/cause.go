package why

import (
	"github.com/reprise-gpu/reprise/internal/timeline"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Cause is the reason for a dependency.
type Cause struct {
	Hazard string `json:"hazard"`          // "raw|waw"
	Range  string `json:"range,omitempty"` // the largest range on which the two operations conflict: "@x[0:4096]"
	Bytes  int64  `json:"bytes,omitempty"` // extent of the range
}

// CauseOf returns the reason for a dependency of g.
func CauseOf(g *ir.Graph, d ir.Dep) Cause {
	c := Cause{Hazard: d.Hazard.String()}
	if _, r := conflicting(g, d.From, d.To); !r.Empty() {
		c.Range, c.Bytes = timeline.RangeText(g, r), r.Hi-r.Lo
	}
	return c
}

// Kept returns a function that reports whether transitive reduction kept a dependency.
func Kept(r *optimizer.Result) func(from, to ir.OpID) bool {
	return func(from, to ir.OpID) bool { _, ok := find(r.Reduced, from, to); return ok }
}

// find returns the dependency between two operations.
func find(g *ir.Graph, from, to ir.OpID) (ir.Dep, bool) {
	for _, d := range g.DepsInto(to) {
		if d.From == from {
			return d, true
		}
	}
	return ir.Dep{}, false
}
