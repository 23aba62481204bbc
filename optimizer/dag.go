package optimizer

import (
	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
)

// dagOf returns the dependency graph of g. Vertices are numbered in program order.
func dagOf(g *ir.Graph) *dense.Graph {
	d := &dense.Graph{Rows: dense.Rows{First: make([]int32, g.Len()+1), To: make([]int32, len(g.Deps()))}}
	end := 0
	for v := range g.Len() {
		for _, w := range g.Succs(ir.OpID(v)) {
			d.To[end] = int32(w)
			end++
		}
		d.First[v+1] = int32(end)
	}
	return d
}

// dagOfSchedule returns the order that the lanes and waits of a schedule impose. Vertices are numbered by submission.
func dagOfSchedule(s *ir.Schedule) *dense.Graph {
	rank := make([]int32, len(s.Order))
	for r, v := range s.Order {
		rank[v] = int32(r)
	}
	edges := make([]dense.Edge, 0, 2*len(s.Order))
	for v, preds := range schedules.Predecessors(s) {
		for _, u := range preds {
			edges = append(edges, dense.Edge{rank[u], rank[v]})
		}
	}
	return dense.NewGraph(len(s.Order), edges)
}
