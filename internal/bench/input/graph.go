package input

import "slices"

// Degree is how many edges leave each vertex of a graph.
const Degree = 3

// attempts is how far apart the numbers are that two vertices draw from. A vertex
// may use some of its neighbour's, which makes no difference to the graph's use.
const attempts = 16

// Edges are those of a random directed graph. Where the edges of a vertex lead is a
// function of the vertex alone, so that a graph of a hundred million vertices needs no memory but
// that which it is written to.
type Edges struct {
	draws    Sequence
	vertices int
}

// NewEdges has Degree distinct targets for each of n vertices, at least Degree.
func NewEdges(s Sequence, n int) Edges {
	if n < Degree {
		panic("BUG: a graph of fewer vertices than each has targets")
	}
	return Edges{draws: s, vertices: n}
}

// From is where the edges of a vertex lead, in the order in which they were drawn.
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

// Graph is a directed graph as a sparse matrix in CSR form: the targets of the
// edges that leave vertex i are Idx[Ptr[i]:Ptr[i+1]].
type Graph struct{ Ptr, Idx []int32 }

func (e Edges) newGraph() Graph {
	return Graph{Ptr: make([]int32, e.vertices+1), Idx: make([]int32, Degree*e.vertices)}
}

// Graph is the graph.
func (e Edges) Graph() Graph {
	g := e.newGraph()
	e.Write(g)
	return g
}

// Transpose is the graph with every edge turned round; the targets of each vertex
// ascend.
func (e Edges) Transpose() Graph {
	g := e.newGraph()
	e.WriteTranspose(g)
	return g
}

// Write writes the graph to arrays of its size.
func (e Edges) Write(g Graph) {
	g.Ptr[0] = 0
	for i := range e.vertices {
		targets := e.From(i)
		copy(g.Idx[Degree*i:], targets[:])
		g.Ptr[i+1] = int32(Degree * (i + 1))
	}
}

// partition is how many vertices have their edges sorted at a time: so many that what
// is written at random stays in a core's own cache. All at once, graphs of a hundred million
// edges took three times as long.
const partition = 1 << 17

// WriteTranspose writes the graph with every edge turned round to arrays of its size. First
// it writes to each partition's place in Idx where the edges come from that lead there; which of its
// vertices they lead to is drawn again when the partition is sorted.
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

// gather writes, partition by partition, where the edges come from that lead there, in
// ascending order. It returns the ends of the partitions.
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

// edge leads from a vertex to another, which is counted from the first of its partition.
type edge struct{ from, to int32 }

// leading appends the edges that lead from some vertices to n others, from first on.
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

// sortByTarget writes the edges that lead to a partition, whose first row begins where ptr
// says: the beginnings of the other rows, and the rows.
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
