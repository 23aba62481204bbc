package dense

import "slices"

// Minimum path cover of a DAG, where paths may share nodes. By Dilworth's theorem the number of
// paths is the size of the largest antichain. On the transitive closure this is a matching,
// but the closure has up to V²/2 edges. Here it is a minimum flow on the edges of the DAG, as in
// V. Mäkinen et al., "Sparse Dynamic Programming on DAGs with Small Width", ACM
// Transactions on Algorithms 2019, with memory linear in them.
//
//	a ──► b ──► d        flow 1 through every node at least:
//	      ▲ ╲            paths a b d and c b e, of which one keeps b;
//	c ────┘  ► e         two are enough, for a and c are concurrent
//
// Every node is split in two, and the flow between the halves must be one at least.
// The initial flow is a path cover without shared nodes, from a maximum matching of the edges.
// Subtracting a maximum flow of removable units leaves the minimum. That flow is found by the
// method of Dinitz, phase by phase along shortest paths.
//
// These are the residual arcs for removing units:
//
//	source ─► in v      if a path begins at v, which it then does not
//	in v ─► out v       if more than one path passes v; back without limit
//	out u ─► in v       if a path takes the edge; back without limit
//	out v ─► sink       if a path ends at v, which it then does not

// PathCover is a cover of all nodes with paths that may share nodes: a flow with at least one unit
// through every node.
type PathCover struct {
	d       *Graph
	parents *parents
	begins  []int32 // by node: paths that begin there
	ends    []int32
	through []int32 // by node: paths that pass it
	along   []int32 // by edge: paths that take it

	// State of a phase, by half: v is the half that edges enter, v + n the other.
	level  []int32 // steps from the source, -1 unreached
	cursor []int32 // arcs before it lead nowhere in this phase
	queue  []int32
	path   []move
}

// move is one step of an augmenting path, to a half over an edge or within the node.
type move struct {
	half int32
	edge int32 // -1 within a node
	back bool  // against the flow: adds to it
}

// parents lists, by node, the edges into it.
type parents struct {
	first []int32 // edges[first[v]:first[v+1]] end at v
	edges []int32
	from  []int32 // by edge
}

func (d *Graph) parents() *parents {
	p := &parents{first: make([]int32, d.Len()+1), edges: make([]int32, len(d.To)), from: make([]int32, len(d.To))}
	for _, v := range d.To {
		p.first[v+1]++
	}
	for v := range d.Len() {
		p.first[v+1] += p.first[v]
	}
	next := append([]int32(nil), p.first...)
	for u := range int32(d.Len()) {
		for e := d.First[u]; e < d.First[u+1]; e++ {
			v := d.To[e]
			p.edges[next[v]], p.from[e] = e, u
			next[v]++
		}
	}
	return p
}

// MinimumPathCover returns a path cover with the fewest paths. Every phase takes O(V+E), and in
// practice there are few.
func MinimumPathCover(d *Graph) *PathCover {
	n := d.Len()
	c := &PathCover{
		d: d, parents: d.parents(),
		begins: slices.Repeat([]int32{1}, n), ends: slices.Repeat([]int32{1}, n), through: slices.Repeat([]int32{1}, n), along: make([]int32, len(d.To)),
		level: make([]int32, 2*n), cursor: make([]int32, 2*n),
	}
	m := MaximumMatching(d.Rows)
	for u := range int32(n) {
		for e := d.First[u]; e < d.First[u+1]; e++ {
			if v := d.To[e]; v == m.Right[u] {
				c.along[e], c.ends[u], c.begins[v] = 1, 0, 0
			}
		}
	}
	for c.layer() {
		for v := range int32(n) {
			for c.begins[v] > 0 && c.level[v] == 0 && c.takeAway(v) {
			}
		}
	}
	return c
}

// Size returns the number of paths, which is the width of the graph.
func (c *PathCover) Size() int {
	n := 0
	for _, k := range c.begins {
		n += int(k)
	}
	return n
}

// layer sets the levels breadth first and reports whether the sink is within reach.
func (c *PathCover) layer() bool {
	n := int32(c.d.Len())
	c.queue = c.queue[:0]
	for v := range n {
		c.level[v], c.level[v+n] = -1, -1
		c.cursor[v], c.cursor[v+n] = 0, 0
		if c.begins[v] > 0 {
			c.level[v] = 0
			c.queue = append(c.queue, v)
		}
	}
	found := false
	for i := 0; i < len(c.queue); i++ {
		h := c.queue[i]
		found = found || h >= n && c.ends[h-n] > 0
		for k := int32(0); ; k++ {
			m, open, more := c.arc(h, k)
			if !more {
				break
			}
			if open && c.level[m.half] < 0 {
				c.level[m.half] = c.level[h] + 1
				c.queue = append(c.queue, m.half)
			}
		}
	}
	return found
}

// arc is arc number k out of a half and whether it has room; more is false behind the
// last one.
func (c *PathCover) arc(h, k int32) (m move, open, more bool) {
	n := int32(c.d.Len())
	if h < n { // to the other half, or back over an edge into the node
		if k == 0 {
			return move{h + n, -1, false}, c.through[h] > 1, true
		}
		if k += c.parents.first[h] - 1; k >= c.parents.first[h+1] {
			return m, false, false
		}
		e := c.parents.edges[k]
		return move{c.parents.from[e] + n, e, true}, true, true
	}
	v := h - n
	if k == 0 {
		return move{v, -1, true}, true, true
	}
	if k += c.d.First[v] - 1; k >= c.d.First[v+1] {
		return m, false, false
	}
	return move{c.d.To[k], k, false}, c.along[k] > 0, true
}

// takeAway finds a shortest path from a node where one path begins to one where a path
// ends, and takes that path away. The stack is explicit: it can be as long as the graph.
func (c *PathCover) takeAway(begin int32) bool {
	n := int32(c.d.Len())
	c.path = append(c.path[:0], move{half: begin})
	for len(c.path) > 0 {
		h := c.path[len(c.path)-1].half
		if h >= n && c.ends[h-n] > 0 {
			c.flip(begin, h-n)
			return true
		}
		m, open, more := c.arc(h, c.cursor[h])
		switch {
		case !more:
			c.path = c.path[:len(c.path)-1]
			if k := len(c.path); k > 0 {
				c.cursor[c.path[k-1].half]++
			}
		case open && c.level[m.half] == c.level[h]+1:
			c.path = append(c.path, m)
		default:
			c.cursor[h]++
		}
	}
	return false
}

// flip applies the path: a unit less where it runs with the flow, one more against it.
func (c *PathCover) flip(begin, end int32) {
	n := int32(c.d.Len())
	c.begins[begin]--
	c.ends[end]--
	for _, m := range c.path[1:] {
		change := int32(-1)
		if m.back {
			change = 1
		}
		if m.edge >= 0 {
			c.along[m.edge] += change
		} else {
			c.through[m.half%n] += change
		}
	}
}

// Antichain returns, in ascending order, Size() nodes of which no path joins any two. By Dilworth's
// theorem no set of such nodes is larger.
//
// They are a minimum cut of the flow. In the last phase the sink is out of reach, so every path of the
// cover leaves the halves that were reached, and can do so only inside a node that no other path
// passes. Such a node is on one side of the cut with the half that edges enter, on the other with the
// half that they leave; two of them on one path would join the sides.
func (c *PathCover) Antichain() []int32 {
	var nodes []int32
	n := int32(c.d.Len())
	for v := range n {
		if c.level[v] >= 0 && c.level[v+n] < 0 {
			nodes = append(nodes, v)
		}
	}
	return nodes
}
