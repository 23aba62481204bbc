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
	for _, v := range g.Idx {
		t.Ptr[v+1]++
	}
	for v := range n {
		t.Ptr[v+1] += t.Ptr[v]
	}
	next := slices.Clone(t.Ptr)
	for i := range n {
		for _, v := range g.Idx[g.Ptr[i]:g.Ptr[i+1]] {
			t.Idx[next[v]] = int32(i)
			next[v]++
		}
	}
	return t
}
