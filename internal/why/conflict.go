package why

import (
	"github.com/reprise-gpu/reprise/internal/timeline"
	"github.com/reprise-gpu/reprise/ir"
)

// Conflict is a pair of accesses of two operations to the same bytes, of which at least one is a write.
type Conflict struct {
	Hazard string `json:"hazard"`          // "raw|waw"
	Range  string `json:"range"`           // the bytes from the first to the last one in common, at most
	Bytes  int64  `json:"bytes,omitempty"` // in common; 0 if an access has strides
	First  string `json:"first"`           // "write @x[0:4096]", with the strides
	Second string `json:"second"`
}

// conflicts returns the conflicts of operations u and v of g, u before v.
func conflicts(g *ir.Graph, u, v ir.OpID) (all []Conflict) {
	eachConflict(g, u, v, func(h ir.Hazard, a, b ir.Access) bool {
		r := common(a, b)
		c := Conflict{Hazard: h.String(), Range: timeline.RangeText(g, r), First: accessText(g, a), Second: accessText(g, b)}
		if a.Shape == 0 && b.Shape == 0 {
			c.Bytes = r.Hi - r.Lo
		}
		all = append(all, c)
		return true
	})
	return all
}

// conflicting returns the hazards between operations u and v, u before v, 0 for none, and the largest range of them.
func conflicting(g *ir.Graph, u, v ir.OpID) (hazards ir.Hazard, at ir.Range) {
	eachConflict(g, u, v, func(h ir.Hazard, a, b ir.Access) bool {
		hazards |= h
		if r := common(a, b); r.Hi-r.Lo > at.Hi-at.Lo {
			at = r
		}
		return true
	})
	return hazards, at
}

// common returns the range from the first to the last byte that two accesses may have in common.
func common(a, b ir.Access) ir.Range {
	return ir.Range{Buffer: a.Buffer, Lo: max(a.Lo, b.Lo), Hi: min(a.Hi, b.Hi)}
}

// eachConflict yields the pairs of accesses that conflict.
func eachConflict(g *ir.Graph, u, v ir.OpID, yield func(h ir.Hazard, a, b ir.Access) bool) {
	var first, second [2]ir.Access
	for _, a := range g.Ops[u].Accesses(&first) {
		for _, b := range g.Ops[v].Accesses(&second) {
			h := hazardOf(a.Mode, b.Mode)
			if h == 0 || a.Buffer != b.Buffer || !a.Overlaps(b.Range) || !g.Box(a).Overlaps(g.Box(b)) {
				continue
			}
			if !yield(h, a, b) {
				return
			}
		}
	}
}

// hazardOf returns the hazards between two accesses to the same bytes.
func hazardOf(a, b ir.Mode) (h ir.Hazard) {
	if a.Writes() && b.Reads() {
		h |= ir.RAW
	}
	if a.Reads() && b.Writes() {
		h |= ir.WAR
	}
	if a.Writes() && b.Writes() {
		h |= ir.WAW
	}
	return h
}

// accessText returns an access with its strides.
func accessText(g *ir.Graph, a ir.Access) string {
	text := a.Mode.String() + " " + timeline.RangeText(g, a.Range)
	if a.Shape != 0 {
		text += " in " + g.Box(a).Shape.String()
	}
	return text
}
