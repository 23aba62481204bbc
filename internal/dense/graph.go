package dense

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// Graph is a directed acyclic graph whose nodes are numbered in a topological order: every edge runs
// to a higher node, and every row ascends without repetition. The algorithms require both, so none of
// them has to sort.
type Graph struct{ Rows }

// indegrees counts the edges into each node.
func (d Rows) indegrees() []int32 {
	in := make([]int32, d.Len())
	for _, v := range d.To {
		in[v]++
	}
	return in
}

// Edge is one edge of a graph under construction. It is an alias, so that packages that make edges
// need not import this one.
type Edge = struct{ From, To int32 }

func check(e Edge) {
	if e.From >= e.To {
		panic(fmt.Sprintf("BUG: edge %d -> %d does not run up the ranks", e.From, e.To))
	}
}

// NewGraph returns the graph of n nodes with these edges, which may come in any order and more than once.
// It takes two counting sorts, one if the edges are sorted by target: O(n + edges).
func NewGraph(n int, edges []Edge) *Graph {
	for _, e := range edges {
		check(e)
	}
	if !slices.IsSortedFunc(edges, func(a, b Edge) int { return cmp.Compare(a.To, b.To) }) {
		edges = sortEdges(n, edges, func(e Edge) int32 { return e.To })
	}
	byBoth := sortEdges(n, edges, func(e Edge) int32 { return e.From })

	d := &Graph{Rows{First: make([]int32, n+1), To: make([]int32, 0, len(edges))}}
	for i, e := range byBoth {
		if i > 0 && e == byBoth[i-1] {
			continue
		}
		d.To = append(d.To, e.To)
		d.First[e.From+1]++
	}
	for v := range n {
		d.First[v+1] += d.First[v]
	}
	return d
}

// NewGraphOf returns the graph of n nodes with the edges of a sequence, which are sorted by target and
// distinct. The sequence runs twice, so that the edges need not be in memory beside the rows.
func NewGraphOf(n int, edges iter.Seq[Edge]) *Graph {
	d := &Graph{Rows{First: make([]int32, n+1)}}
	for e := range edges {
		check(e)
		d.First[e.From+1]++
	}
	for v := range n {
		d.First[v+1] += d.First[v]
	}
	d.To = make([]int32, d.First[n])
	next := slices.Clone(d.First[:n])
	for e := range edges {
		d.To[next[e.From]] = e.To
		next[e.From]++
	}
	return d
}

// sortEdges is a stable counting sort by a key below n.
func sortEdges(n int, edges []Edge, key func(Edge) int32) []Edge {
	next := make([]int32, n+1)
	for _, e := range edges {
		next[key(e)+1]++
	}
	for v := range n {
		next[v+1] += next[v]
	}
	sorted := make([]Edge, len(edges))
	for _, e := range edges {
		sorted[next[key(e)]] = e
		next[key(e)]++
	}
	return sorted
}
