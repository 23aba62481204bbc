package dense

import "slices"

// Partition returns, by node, the number of the path that keeps it, from 0 to Size()-1. A node on
// several paths stays with one, so the paths become chains: in each a path leads from every node to
// the next, if not always an edge. A node stays with a path that comes from a parent along an edge
// where there is one. All paths advance together in order of the nodes, so that no more of them are
// in memory than there are chains.
func (c *PathCover) Partition() []int32 {
	chain := make([]int32, c.d.Len())
	var last []int32 // by path: the node that it kept last
	arrived := make([][]int32, c.d.Len())
	for v := range int32(c.d.Len()) {
		paths := arrived[v]
		arrived[v] = nil
		for range c.begins[v] {
			paths = append(paths, int32(len(last)))
			last = append(last, -1)
		}
		keeps := c.keeper(v, paths, last)
		chain[v], last[paths[keeps]] = paths[keeps], v
		paths[0], paths[keeps] = paths[keeps], paths[0]
		c.pass(v, paths, arrived)
	}
	return chain
}

// keeper returns the index of the path that keeps v: the first one whose last kept node is a parent of v, else
// the first one.
func (c *PathCover) keeper(v int32, paths, last []int32) int {
	return max(0, slices.IndexFunc(paths, func(p int32) bool {
		if last[p] < 0 {
			return false
		}
		_, child := slices.BinarySearch(c.d.Succs(last[p]), v)
		return child
	}))
}

// pass moves the paths of v on along the edges that take them. The first path, which has kept v,
// takes an edge to a node on no other path if there is one, so that it can keep that node as well.
func (c *PathCover) pass(v int32, paths []int32, arrived [][]int32) {
	give := func(e int32) {
		for range c.along[e] {
			if len(paths) == 0 {
				panic("BUG: more paths leave a node than come")
			}
			arrived[c.d.To[e]] = append(arrived[c.d.To[e]], paths[0])
			paths = paths[1:]
		}
	}
	first := int32(-1)
	for e := c.d.First[v]; e < c.d.First[v+1] && first < 0; e++ {
		if c.along[e] > 0 && c.through[c.d.To[e]] == 1 {
			first = e
			give(e)
		}
	}
	for e := c.d.First[v]; e < c.d.First[v+1]; e++ {
		if e != first {
			give(e)
		}
	}
}
