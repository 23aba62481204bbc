package input

import "slices"

// Degree is the number of edges that leave each vertex of a graph.
const Degree = 3

// attempts is the distance between the numbers that two vertices draw from. A vertex may use numbers of the next one,
// which does no harm.
const attempts = 16

// Edges is a random directed graph. The edges of a vertex are a function of the vertex alone, so that a graph of a
// hundred million vertices needs no memory except for the arrays that it is written to.
type Edges struct {
	draws    Sequence
	vertices int
}

// NewEdges returns a graph with Degree distinct targets for each of n vertices; n must be at least Degree.
func NewEdges(s Sequence, n int) Edges {
	if n < Degree {
		panic("BUG: a graph of fewer vertices than each has targets")
	}
	return Edges{draws: s, vertices: n}
}

// From returns the targets of the edges of a vertex, in the order in which they were drawn.
func (e Edges) From(vertex int) (targets [Degree]int32) {
	drawn := 0
	for t := attempts * vertex; drawn < Degree; t++ {
		if v := int32(e.draws.Below(t, uint32(e.vertices))); !slices.Contains(targets[:drawn], v) {
			targets[drawn] = v
			drawn++
		}
	}
	return targets
}

// Graph is a directed graph as a CSR matrix: the edges of vertex i lead to Idx[Ptr[i]:Ptr[i+1]].
type Graph struct{ Ptr, Idx []int32 }

func (e Edges) newGraph() Graph {
	return Graph{Ptr: make([]int32, e.vertices+1), Idx: make([]int32, Degree*e.vertices)}
}

// Graph returns the graph in new arrays.
func (e Edges) Graph() Graph {
	g := e.newGraph()
	e.Write(g)
	return g
}

// Transpose returns the graph with every edge reversed; the targets of each vertex ascend.
func (e Edges) Transpose() Graph {
	g := e.newGraph()
	e.WriteTranspose(g)
	return g
}

// Write writes the graph to arrays of the right size.
func (e Edges) Write(g Graph) {
	g.Ptr[0] = 0
	for i := range e.vertices {
		targets := e.From(i)
		copy(g.Idx[Degree*i:], targets[:])
		g.Ptr[i+1] = int32(Degree * (i + 1))
	}
}

// partition is the number of vertices whose edges are sorted at a time, so that random writes stay in the cache of a
// core. Sorting all at once took three times as long for graphs of a hundred million edges.
const partition = 1 << 17

// WriteTranspose writes the graph with every edge reversed to arrays of the right size. It first writes the sources
// of the edges that lead to each partition to the partition's part of Idx. Then it sorts each partition; the targets
// of its edges are computed again.
func (e Edges) WriteTranspose(g Graph) {
	g.Ptr[0] = 0
	begin := 0
	var leading []edge
	for p, end := range e.gather(g.Idx) {
		first := p * partition
		ptr := g.Ptr[first : min(first+partition, e.vertices)+1]
		leading = e.leading(leading[:0], slices.Compact(g.Idx[begin:end]), first, len(ptr)-1)
		sortByTarget(ptr, g.Idx, leading)
		begin = end
	}
}

// gather writes, for each partition, the sources of the edges that lead to it, in ascending order. It returns the
// ends of the partitions.
func (e Edges) gather(sources []int32) (ends []int) {
	ends = make([]int, (e.vertices+partition-1)/partition)
	for i := range e.vertices {
		for _, v := range e.From(i) {
			ends[v/partition]++
		}
	}
	sum := 0
	for p, count := range ends {
		ends[p], sum = sum, sum+count
	}
	for i := range e.vertices {
		for _, v := range e.From(i) {
			at := &ends[v/partition]
			sources[*at] = int32(i)
			*at++
		}
	}
	return ends
}

// edge is an edge; its target is relative to the first vertex of the partition.
type edge struct{ from, to int32 }

// leading appends the edges from the given vertices to the n vertices from first on.
func (e Edges) leading(list []edge, from []int32, first, n int) []edge {
	for _, i := range from {
		for _, v := range e.From(int(i)) {
			if to := int(v) - first; 0 <= to && to < n {
				list = append(list, edge{i, int32(to)})
			}
		}
	}
	return list
}

// sortByTarget writes the edges that lead to a partition: the starts of all rows but the first, which is in ptr
// already, and the rows.
func sortByTarget(ptr, idx []int32, edges []edge) {
	clear(ptr[1:])
	for _, e := range edges {
		ptr[e.to+1]++
	}
	for v := range len(ptr) - 1 {
		ptr[v+1] += ptr[v]
	}
	next := slices.Clone(ptr)
	for _, e := range edges {
		idx[next[e.to]] = e.from
		next[e.to]++
	}
}
