package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// minCover keeps all the concurrency there is on the fewest lanes that can: as many as
// operations can run at the same time, which is the width of the graph (R. P. Dilworth,
// "A Decomposition Theorem for Partially Ordered Sets", Annals of Mathematics 1950).
// nimble has as many concurrent lanes or more, and as many waits or fewer.
//
//	0 ─► 1 ─► 2 ─► 3     two are concurrent at most:
//	     └──► 4 ─► 5     lane 0: 0 1 2 3, lane 1: 4 5
//
// The lanes are the paths of a minimum path cover. A node on several paths stays with
// one: with one that comes from a parent along an edge where there is one, for that edge
// needs no wait then.
type minCover struct{}

func (minCover) assign(g *ir.Graph, _ *Options) (assignment, error) {
	g, err := reduce(g) // fewer edges to look at, and those that are left need waits
	if err != nil {
		return assignment{}, err
	}
	d := dagOf(g)
	return assignment{lane: minimumPathCover(d).lanes()}, nil
}

// lanes numbers the paths and says which keeps each node. Paths are walked side by side
// in order of the nodes, so that there are never more of them in hand than lanes.
func (c *pathCover) lanes() []ir.LaneID {
	lane := make([]ir.LaneID, c.d.len())
	var last []int32 // by path: the node that it kept last
	arrived := make([][]int32, c.d.len())
	for v := range int32(c.d.len()) {
		paths := arrived[v]
		arrived[v] = nil
		for range c.begins[v] {
			paths = append(paths, int32(len(last)))
			last = append(last, -1)
		}
		keeps := c.keeper(v, paths, last)
		lane[v], last[paths[keeps]] = ir.LaneID(paths[keeps]), v
		paths[0], paths[keeps] = paths[keeps], paths[0]
		c.pass(v, paths, arrived)
	}
	return lane
}

// keeper is the index of the path that keeps v: the first that kept a parent last,
// else the first.
func (c *pathCover) keeper(v int32, paths, last []int32) int {
	return max(0, slices.IndexFunc(paths, func(p int32) bool {
		if last[p] < 0 {
			return false
		}
		_, child := slices.BinarySearch(c.d.succs(last[p]), v)
		return child
	}))
}

// pass hands the paths on along the edges that take them. The first, which has kept v,
// takes an edge that nobody shares if there is one: to a node that it may keep as well.
func (c *pathCover) pass(v int32, paths []int32, arrived [][]int32) {
	give := func(e int32) {
		for range c.along[e] {
			if len(paths) == 0 {
				panic("BUG: more paths leave a node than come")
			}
			arrived[c.d.to[e]] = append(arrived[c.d.to[e]], paths[0])
			paths = paths[1:]
		}
	}
	first := int32(-1)
	for e := c.d.first[v]; e < c.d.first[v+1] && first < 0; e++ {
		if c.along[e] > 0 && c.through[c.d.to[e]] == 1 {
			first = e
			give(e)
		}
	}
	for e := c.d.first[v]; e < c.d.first[v+1]; e++ {
		if e != first {
			give(e)
		}
	}
}
