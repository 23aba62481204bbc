package dag

import (
	"gonum.org/v1/gonum/graph"

	"github.com/reprise-gpu/reprise/internal/dense"
)

// MinimumPathCover returns the fewest paths of g that pass each node once, in a topological order of
// their first nodes.
//
// A path cover is a matching between nodes as tails and nodes as heads: each edge in a path joins a
// tail to a head, and the paths are V less the edges. Hopcroft and Karp's algorithm finds a maximum
// matching ("An n^5/2 algorithm for maximum matchings in bipartite graphs", SIAM J. Comput. 1973) in
// O(sqrt(V)·E).
//
// The error is topo.Unorderable if g has a cycle.
func MinimumPathCover(g graph.Directed) ([][]graph.Node, error) {
	d, nodes, err := denseOf(g)
	if err != nil {
		return nil, err
	}
	var paths [][]graph.Node
	for _, path := range dense.MaximumMatching(d.Rows).Chains() {
		paths = append(paths, list(nodes, path))
	}
	return paths, nil
}

// MinimumChainCover returns the fewest chains that hold each node of g once, in a topological order of
// their first nodes. In a chain a path of g leads from each node to the next, so chains are the paths
// of the transitive closure. Their number is the width of g, the size of its maximum antichain (R. P.
// Dilworth, "A Decomposition Theorem for Partially Ordered Sets", Annals of Mathematics 1950).
//
//	0 ──► 1 ──► 2       paths     0 1 2 | 3 | 4
//	      ▲ ╲           chains    0 1 2 | 3 4
//	3 ────┘  ► 4
//
// The closure is not computed. A cover with paths that may share nodes is a flow with a unit through
// each node at least; a minimum path cover is one, from which a maximum flow of what can be taken away
// leaves the fewest (V. Mäkinen et al., "Sparse Dynamic Programming on DAGs with Small Width", ACM
// Transactions on Algorithms 2019). Dinitz' method finds it phase by phase, each O(V+E) and, on graphs
// of tasks, few. Memory is O(V+E).
//
// The error is topo.Unorderable if g has a cycle.
func MinimumChainCover(g graph.Directed) ([][]graph.Node, error) {
	d, nodes, err := denseOf(g)
	if err != nil {
		return nil, err
	}
	cover := dense.MinimumPathCover(d)
	chains := make([][]graph.Node, cover.Size())
	for v, c := range cover.Partition() {
		chains[c] = append(chains[c], nodes[v])
	}
	return chains, nil
}

// MaximumAntichain returns the most nodes of g of which no path joins any two, in a topological order
// of g. Their number is the width of g.
//
// They are a minimum cut of the flow that MinimumChainCover describes, which takes the same time.
//
// The error is topo.Unorderable if g has a cycle.
func MaximumAntichain(g graph.Directed) ([]graph.Node, error) {
	d, nodes, err := denseOf(g)
	if err != nil {
		return nil, err
	}
	return list(nodes, dense.MinimumPathCover(d).Antichain()), nil
}
