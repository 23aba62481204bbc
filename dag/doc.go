// Package dag adds to gonum the algorithms on directed acyclic graphs that it lacks: transitive
// reduction, minimum path and chain covers, maximum antichains, and the incomparability graph, which
// gonum's colourings accept. For undirected graphs it has maximum bipartite matching, and an exact
// colouring with a bound on the work.
//
//	0 ──► 1 ──► 3        Reduce              without 0 ─► 3
//	├───► 2 ────▲        MinimumPathCover    0 1 3 | 2
//	└───────────┘        MinimumChainCover   0 1 3 | 2
//	                     MaximumAntichain    1 2
//	                     Incomparability     1 ── 2
//
// Arguments are gonum's interfaces. Results are gonum graphs, or nodes of the argument. Each function
// reads the graph once and converts it to rows of integers, on which it computes. docs/RATIONALE.md
// compares the time of this with that of algorithms on gonum's maps.
//
// If a graph has a cycle, the error is a topo.Unorderable with its strongly connected components, as
// in gonum's topological sort. An edge from a node to itself is a cycle. Results depend only on the
// nodes and edges, not on the order of iteration: ties go to the node with the lower ID.
package dag
