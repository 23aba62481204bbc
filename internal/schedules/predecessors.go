package schedules

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// Predecessors returns, by operation, the edges of a schedule: its waits, then the
// operation before it on its lane.
func Predecessors(s *ir.Schedule) [][]ir.OpID {
	preds := make([][]ir.OpID, s.Graph.Len())
	last := make([]ir.OpID, s.Lanes)
	for i := range last {
		last[i] = -1
	}
	for _, v := range s.Order {
		lane := s.Lane[v]
		preds[v] = s.Waits[v]
		if u := last[lane]; u >= 0 {
			preds[v] = append(slices.Clip(s.Waits[v]), u)
		}
		last[lane] = v
	}
	return preds
}
