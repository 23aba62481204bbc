package optimizer

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// dag is a graph over ranks 0..n-1 in compressed rows. Every edge runs to a
// higher rank and every row ascends, which is what all algorithms here lean on:
// ranks are program order or the submission order of a schedule, so there is
// never a topological sort to do.
//
// An edge is named by its index into to.
type dag struct {
	first []int32 // to[first[v]:first[v+1]] are v's successors
	to    []int32
}

func (d *dag) len() int { return len(d.first) - 1 }

func (d *dag) succs(v int32) []int32 { return d.to[d.first[v]:d.first[v+1]] }

// indegrees counts the edges into each node.
func (d *dag) indegrees() []int32 {
	in := make([]int32, d.len())
	for _, v := range d.to {
		in[v]++
	}
	return in
}

// dagOf is the dependency graph of g, ranked in program order.
func dagOf(g *ir.Graph) *dag {
	d := &dag{first: make([]int32, g.Len()+1), to: make([]int32, len(g.Deps()))}
	end := 0
	for v := range g.Len() {
		for _, w := range g.Succs(ir.OpID(v)) {
			d.to[end] = int32(w)
			end++
		}
		d.first[v+1] = int32(end)
	}
	return d
}

// edge is one arc of a dag under construction.
type edge struct{ from, to int32 }

func (e edge) check() {
	if e.from >= e.to {
		panic(fmt.Sprintf("BUG: edge %d -> %d does not run up the ranks", e.from, e.to))
	}
}

// newDAG builds the rows of edges over n ranks; an edge given twice stays one.
// Two counting sorts, so the cost is linear however the edges come; one if they come by target.
func newDAG(n int, edges []edge) *dag {
	for _, e := range edges {
		e.check()
	}
	if !slices.IsSortedFunc(edges, func(a, b edge) int { return cmp.Compare(a.to, b.to) }) {
		edges = sortEdges(n, edges, func(e edge) int32 { return e.to })
	}
	byBoth := sortEdges(n, edges, func(e edge) int32 { return e.from })

	d := &dag{first: make([]int32, n+1), to: make([]int32, 0, len(edges))}
	for i, e := range byBoth {
		if i > 0 && e == byBoth[i-1] {
			continue
		}
		d.to = append(d.to, e.to)
		d.first[e.from+1]++
	}
	for v := range n {
		d.first[v+1] += d.first[v]
	}
	return d
}

// newRows builds the rows of edges that come by target, each once, as often as they are asked for.
// A list of all of them, and its sorting, would take more memory than the rows.
func newRows(n int, edges iter.Seq[edge]) *dag {
	d := &dag{first: make([]int32, n+1)}
	for e := range edges {
		e.check()
		d.first[e.from+1]++
	}
	for v := range n {
		d.first[v+1] += d.first[v]
	}
	d.to = make([]int32, d.first[n])
	next := slices.Clone(d.first[:n])
	for e := range edges {
		d.to[next[e.from]] = e.to
		next[e.from]++
	}
	return d
}

// sortEdges is a stable counting sort by a key below n.
func sortEdges(n int, edges []edge, key func(edge) int32) []edge {
	next := make([]int32, n+1)
	for _, e := range edges {
		next[key(e)+1]++
	}
	for v := range n {
		next[v+1] += next[v]
	}
	sorted := make([]edge, len(edges))
	for _, e := range edges {
		sorted[next[key(e)]] = e
		next[key(e)]++
	}
	return sorted
}
