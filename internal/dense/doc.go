// Package dense has graph algorithms on dense graphs: nodes are the integers 0..n-1, edges lie in
// compressed sparse rows, and sets are bitsets. Package optimizer uses it, and
// package dag offers it for the graphs of gonum.
//
//	type        holds                                             algorithms
//	Rows        a directed graph                                  MaximumMatching
//	[][]int32   a directed graph, by node its successors          Order, ReversePostOrder, Dominators
//	Graph       one numbered in a topological order, without      Reduce, Reachability, MinimumPathCover,
//	            repeated edges                                    ChainPartition
//	[]Set       an undirected graph, by node its neighbours       ExactColoring, HeaviestAntichain
//
// The fields of the types are exported slices, whose invariants the caller must keep: for speed, no
// algorithm copies, sorts or checks its argument. This is why the package is internal.
//
// All results depend on the graph alone: ties go to the lower node.
package dense
