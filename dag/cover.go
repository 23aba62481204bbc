package dag

import (
	"gonum.org/v1/gonum/graph"

	"github.com/reprise-gpu/reprise/internal/dense"
)

// MinimumPathCover returns a minimum set of disjoint paths of g that together contain every node. The
// paths are in a topological order of their first nodes.
//
// The edges of a path cover are a matching between the nodes as tails and the nodes as heads, and the
// number of paths is V less the number of these edges. A maximum matching therefore gives the fewest
// paths. Hopcroft and Karp's algorithm finds it in O(sqrt(V)·E) ("An n^5/2 algorithm for maximum
// matchings in bipartite graphs", SIAM J. Comput. 1973).
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

// MinimumChainCover returns a minimum set of disjoint chains of g that together contain every node. The
// chains are in a topological order of their first nodes. In a chain, a path of g leads from each node
// to the next one, so the chains of g are the paths of its transitive closure. The number of chains is
// the width of g, the size of its maximum antichain (R. P. Dilworth, "A Decomposition Theorem for
// Partially Ordered Sets", Annals of Mathematics 1950).
//
//	0 ──► 1 ──► 2       paths     0 1 2 | 3 | 4
//	      ▲ ╲           chains    0 1 2 | 3 4
//	3 ────┘  ► 4
//
// The closure is not computed. A cover by paths that may share nodes is a flow with at least one unit
// through each node. MinimumChainCover starts from the flow of a minimum path cover and reduces it by a
// maximum flow of the units that can be removed (V. Mäkinen et al., "Sparse Dynamic Programming on DAGs
// with Small Width", ACM Transactions on Algorithms 2019). Dinitz's method finds that flow in phases of
// O(V+E) each; task graphs need few phases. Memory is O(V+E).
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

// MaximumAntichain returns a maximum set of nodes of g such that no path joins any two of them. The
// nodes are in a topological order of g. Their number is the width of g.
//
// They are a minimum cut of the flow that MinimumChainCover describes. Time and memory are the same.
//
// The error is topo.Unorderable if g has a cycle.
func MaximumAntichain(g graph.Directed) ([]graph.Node, error) {
	d, nodes, err := denseOf(g)
	if err != nil {
		return nil, err
	}
	return list(nodes, dense.MinimumPathCover(d).Antichain()), nil
}
