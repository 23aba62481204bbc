package ir

import "github.com/reprise-gpu/reprise/internal/dense"

// RedundantWaits returns the waits that lanes and the other waits imply,
// ordered by To, then From. The schedule must satisfy VerifySchedule; nil has none.
func RedundantWaits(s *Schedule) []Dep {
	if s == nil || s.Graph == nil {
		return nil
	}
	v := &scheduleVerifier{s: s, g: s.Graph}
	v.order()
	var waits []Dep
	var queries []dense.Edge
	for id, w := range s.Waits {
		for _, u := range w {
			waits = append(waits, Dep{From: u, To: OpID(id)})
			queries = append(queries, dense.Edge{From: v.turn[u], To: v.turn[id]})
		}
	}
	redundant := waits[:0]
	for i, yes := range v.dag().Implied(queries) {
		if yes {
			redundant = append(redundant, waits[i])
		}
	}
	return redundant
}
