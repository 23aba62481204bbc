// Package densetest has graphs and brute-force oracles for tests of graph algorithms, in packages
// dense, dag and optimizer. It shares no code with them.
package densetest

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Edge is the type of dense.Edge.
type Edge = struct{ From, To int32 }

// Closure returns, by pair of the nodes 0..n-1, whether a path of at least one edge joins them. Every
// edge runs to a higher node.
func Closure(n int, edges []Edge) [][]bool {
	reach := make([][]bool, n)
	for u := range reach {
		reach[u] = make([]bool, n)
	}
	for _, e := range edges {
		reach[e.From][e.To] = true
	}
	for k := range n {
		for u := range k { // edges run up, so only lower nodes reach k
			if reach[u][k] {
				for v := k + 1; v < n; v++ {
					reach[u][v] = reach[u][v] || reach[k][v]
				}
			}
		}
	}
	return reach
}

// Reduction returns the edges with no node between their ends, sorted and each once.
func Reduction(n int, edges []Edge) []Edge {
	reach := Closure(n, edges)
	between := func(e Edge) bool {
		for k := e.From + 1; k < e.To; k++ {
			if reach[e.From][k] && reach[k][e.To] {
				return true
			}
		}
		return false
	}
	var kept []Edge
	for _, e := range Distinct(edges) {
		if !between(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// Distinct returns the edges sorted, each once.
func Distinct(edges []Edge) []Edge {
	list := slices.Clone(edges)
	slices.SortFunc(list, compare)
	return slices.Compact(list)
}

func compare(a, b Edge) int {
	if a.From != b.From {
		return int(a.From - b.From)
	}
	return int(a.To - b.To)
}

// Matching returns the size of a maximum matching between tails and heads of edges over 0..n-1, by a
// depth-first search for an augmenting path from every node (Kuhn).
func Matching(n int, edges []Edge) int {
	succs := make([][]int32, n)
	for _, e := range edges {
		succs[e.From] = append(succs[e.From], e.To)
	}
	left := slices.Repeat([]int32{-1}, n)
	var tried []bool
	var augment func(u int32) bool
	augment = func(u int32) bool {
		for _, v := range succs[u] {
			if !tried[v] {
				tried[v] = true
				if left[v] < 0 || augment(left[v]) {
					left[v] = u
					return true
				}
			}
		}
		return false
	}
	size := 0
	for u := range int32(n) {
		tried = make([]bool, n)
		if augment(u) {
			size++
		}
	}
	return size
}

// Width returns the size of a largest antichain: by Dilworth, the nodes less a maximum matching of
// the closure.
func Width(n int, edges []Edge) int {
	var all []Edge
	for u, row := range Closure(n, edges) {
		for v, reached := range row {
			if reached {
				all = append(all, Edge{int32(u), int32(v)})
			}
		}
	}
	return n - Matching(n, all)
}

// RandomEdges draws m edges over n nodes, none of which spans more than span nodes; some repeat, and
// those that would end above the last node are left out.
func RandomEdges(r *rand.Rand, n, m, span int) []Edge {
	var edges []Edge
	for range m {
		u := r.IntN(n)
		if v := u + 1 + r.IntN(span); v < n {
			edges = append(edges, Edge{int32(u), int32(v)})
		}
	}
	return edges
}

// Rounds returns the number of rounds of a random test, a tenth of all in short tests.
func Rounds(all int) int {
	if testing.Short() {
		return all / 10
	}
	return all
}
