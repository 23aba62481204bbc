// Package dag has algorithms on directed acyclic graphs that gonum lacks, for any graph of gonum's:
// transitive reduction, minimum path and chain covers, maximum antichains, and the graph of what no
// path orders, for gonum's colourings. Bipartite matching and an exact colouring with a bound of work
// are for undirected graphs.
//
//	0 ──► 1 ──► 3        Reduce              without 0 ─► 3
//	├───► 2 ────▲        MinimumPathCover    0 1 3 | 2
//	└───────────┘        MinimumChainCover   0 1 3 | 2
//	                     MaximumAntichain    1 2
//	                     Incomparability     1 ── 2
//
// Arguments are gonum's interfaces. Results are gonum's graphs, or nodes of the argument. A function
// reads the graph once into rows of integers, which internal/dense works on; docs/RATIONALE.md
// measures both against gonum's maps.
//
// A graph with cycles, an edge from a node to itself included, gives an error of type
// topo.Unorderable with the strongly connected components, as gonum's topological sort does. All
// results depend on the graph alone: ties go to the node with the lower ID.
package dag
