package dag

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/graph"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/dense"
)

// NotBipartite is the error for a graph that is not bipartite. It holds the nodes of a cycle of odd length.
type NotBipartite []graph.Node

// Error implements error.
func (e NotBipartite) Error() string {
	const most = 10
	ids := make([]int64, 0, most)
	for _, n := range e[:min(most, len(e))] {
		ids = append(ids, n.ID())
	}
	more := ""
	if len(e) > most {
		more = " and others"
	}
	return fmt.Sprintf("dag: the graph is not bipartite: %d nodes form an odd cycle: %v%s", len(e), ids, more)
}

// MaximumMatching returns a maximum set of edges of the bipartite graph g such that no two share an end.
//
// It is the algorithm of J. E. Hopcroft and R. M. Karp ("An n^5/2 algorithm for maximum matchings in
// bipartite graphs", SIAM J. Comput. 1973): a phase finds a maximal set of disjoint shortest
// augmenting paths, and O(sqrt(V)) phases suffice. Each phase after the first then adds paths of any length
// (I. S. Duff and T. Wiberg, "Remarks on implementation of O(n^1/2 tau) assignment algorithms", ACM
// TOMS 14(3), 1988). Time is O(sqrt(V)·E).
//
// Edges are in the order of the IDs of their ends in one half. The error is NotBipartite if g has a
// cycle of odd length.
func MaximumMatching(g graph.Undirected) ([]graph.Edge, error) {
	if absent.Is(g) {
		return nil, errNoGraph
	}
	x := byID(g.Nodes())
	near := x.neighbours(g.From)
	right, cycle := halves(near)
	if cycle != nil {
		return nil, NotBipartite(list(x.nodes, cycle))
	}
	rows := dense.Rows{First: make([]int32, 1, len(near)+1)}
	for v, row := range near {
		if !right[v] {
			slices.Sort(row)
			rows.To = append(rows.To, row...)
		}
		rows.First = append(rows.First, int32(len(rows.To)))
	}
	var edges []graph.Edge
	for u, v := range dense.MaximumMatching(rows).Right {
		if v >= 0 {
			edges = append(edges, g.EdgeBetween(x.nodes[u].ID(), x.nodes[v].ID()))
		}
	}
	return edges, nil
}

// halves divides a graph by breadth-first search so that no edge has both ends in one half: right
// reports which nodes are at an odd distance from the lowest of their component. Where there is no
// such division, it returns a cycle of odd length instead.
func halves(near [][]int32) (right []bool, cycle []int32) {
	right = make([]bool, len(near))
	parent := slices.Repeat([]int32{-1}, len(near))
	for root := range int32(len(near)) {
		if parent[root] >= 0 {
			continue
		}
		parent[root] = root
		for queue := []int32{root}; len(queue) > 0; queue = queue[1:] {
			u := queue[0]
			for _, v := range near[u] {
				switch {
				case parent[v] < 0:
					parent[v], right[v] = u, !right[u]
					queue = append(queue, v)
				case right[v] == right[u]:
					return nil, oddCycle(parent, u, v)
				}
			}
		}
	}
	return right, nil
}

// oddCycle returns the cycle of the edge between u and v and their paths to the closest common ancestor.
func oddCycle(parent []int32, u, v int32) []int32 {
	ancestors := func(v int32) []int32 {
		path := []int32{v}
		for parent[v] != v {
			v = parent[v]
			path = append(path, v)
		}
		return path
	}
	a, b := ancestors(u), ancestors(v)
	for len(a) > 1 && len(b) > 1 && a[len(a)-2] == b[len(b)-2] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	b = b[:len(b)-1] // the common ancestor is in a
	slices.Reverse(b)
	return append(a, b...)
}
