package input

import "slices"

// Degree is how many edges leave each vertex of a Graph.
const Degree = 3

// attempts is how far apart the numbers are that two vertices draw from. A vertex
// may use some of its neighbour's, which makes no difference to the graph's use.
const attempts = 16

// Graph is a directed graph as a sparse matrix in CSR form: the targets of the
// edges that leave vertex i are Idx[Ptr[i]:Ptr[i+1]].
type Graph struct{ Ptr, Idx []int32 }

// NewGraph draws Degree distinct targets for each of n vertices, in the order in
// which they were drawn. It needs n >= Degree.
func NewGraph(s Sequence, n int) Graph {
	if n < Degree {
		panic("BUG: a graph of fewer vertices than each has targets")
	}
	g := Graph{Ptr: make([]int32, n+1), Idx: make([]int32, 0, Degree*n)}
	for i := range n {
		for t := attempts * i; len(g.Idx) < Degree*(i+1); t++ {
			if v := int32(s.Below(t, uint32(n))); !slices.Contains(g.Idx[Degree*i:], v) {
				g.Idx = append(g.Idx, v)
			}
		}
		g.Ptr[i+1] = int32(len(g.Idx))
	}
	return g
}

// Transpose is the graph with every edge turned round; the targets of each vertex
// ascend.
func (g Graph) Transpose() Graph {
	n := len(g.Ptr) - 1
	t := Graph{Ptr: make([]int32, n+1), Idx: make([]int32, len(g.Idx))}
	next := make([]int32, min(n, partition))
	for p, edges := range g.byTarget() {
		first := p * partition
		ptr := t.Ptr[first : min(first+partition, n)+1]
		for _, e := range edges {
			ptr[int(e.to)-first+1]++
		}
		for v := range len(ptr) - 1 {
			ptr[v+1] += ptr[v]
		}
		copy(next, ptr)
		for _, e := range edges {
			at := &next[int(e.to)-first]
			t.Idx[*at] = e.from
			*at++
		}
	}
	return t
}

// partition is how many vertices have their edges sorted at a time: so many that what
// is written at random stays in a core's own cache. All at once, graphs of a hundred million
// edges took three times as long.
const partition = 1 << 17

type edge struct{ from, to int32 }

// byTarget lists all edges, in their order, by the partition that they lead to.
func (g Graph) byTarget() [][]edge {
	n := len(g.Ptr) - 1
	parts := make([][]edge, (n+partition-1)/partition)
	counts := make([]int, len(parts))
	for _, v := range g.Idx {
		counts[v/partition]++
	}
	all := make([]edge, len(g.Idx))
	for p, count := range counts {
		parts[p], all = all[:0:count], all[count:]
	}
	for i := range n {
		for _, v := range g.Idx[g.Ptr[i]:g.Ptr[i+1]] {
			parts[v/partition] = append(parts[v/partition], edge{int32(i), v})
		}
	}
	return parts
}
