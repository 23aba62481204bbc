package schedules

import (
	"iter"

	"github.com/reprise-gpu/reprise/ir"
)

// Groups yields the groups of operations that are launched together: one that is not joined, and the joined
// ones behind it on its lane, in that order. Groups come in the order of their first operations. A slice is
// valid until the next one is yielded.
func Groups(s *ir.Schedule) iter.Seq[[]ir.OpID] {
	return func(yield func([]ir.OpID) bool) {
		behind := behind(s)
		var group []ir.OpID
		for i, v := range s.Order {
			if s.Joined == nil {
				group = s.Order[i : i+1]
			} else if s.Joined[v] {
				continue
			} else {
				group = group[:0]
				for ; v >= 0; v = behind[v] {
					group = append(group, v)
				}
			}
			if !yield(group) {
				return
			}
		}
	}
}

// behind returns, by operation, the next one on its lane if that is joined to it, else -1. It returns nil if
// no operation is joined.
func behind(s *ir.Schedule) []ir.OpID {
	if s.Joined == nil {
		return nil
	}
	behind, last := make([]ir.OpID, len(s.Order)), make([]ir.OpID, s.Lanes)
	for lane := range last {
		last[lane] = -1
	}
	for _, v := range s.Order {
		behind[v] = -1
		if u := last[s.Lane[v]]; s.Joined[v] && u >= 0 {
			behind[u] = v
		}
		last[s.Lane[v]] = v
	}
	return behind
}
