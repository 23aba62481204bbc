package graph

// Clone copies a graph and all nested graphs. The order of sinks is kept.
func (g *Graph) Clone() *Graph {
	c := &Graph{twins: make(map[*Node]*Node, len(g.nodes)), turns: g.turns}
	for _, n := range g.nodes {
		t := &Node{graph: c, params: cloned(n.params), sinkSince: n.sinkSince}
		t.own()
		c.nodes = append(c.nodes, t)
		c.twins[n] = t
	}
	for _, n := range g.nodes {
		t := c.twins[n]
		t.deps, t.outs = c.twinsOf(n.deps), c.twinsOf(n.outs)
	}
	return c
}

func cloned(p Params) Params {
	nest, ok := p.(Nest)
	if !ok {
		return p
	}
	var bodies []*Graph
	for _, b := range nest.Bodies() {
		bodies = append(bodies, b.Clone())
	}
	return nest.With(bodies)
}

func (g *Graph) twinsOf(nodes []*Node) []*Node {
	twins := make([]*Node, len(nodes))
	for i, n := range nodes {
		twins[i] = g.twins[n]
	}
	return twins
}

// Twin returns the copy of n in this clone, at any depth, or nil. The original may
// have been removed, but not the copy.
func (g *Graph) Twin(n *Node) *Node {
	t := g.twins[n]
	if t == nil && n.graph != nil && n.graph.owner != nil {
		t = g.inside(n)
	}
	if t == nil || t.graph == nil {
		return nil
	}
	return t
}

// inside is Twin for a node of a nested graph.
func (g *Graph) inside(n *Node) *Node {
	owner := g.Twin(n.graph.owner)
	if owner == nil {
		return nil
	}
	for _, b := range owner.params.(Nest).Bodies() {
		if t := b.twins[n]; t != nil {
			return t
		}
	}
	return nil
}
