package graph

// Clone copies a graph and all that it contains. Sinks keep their order.
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

// Twin is the node that was copied from n when the graph was cloned, at whatever
// depth, or nil. The node itself need not be left where it was, but its twin must.
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

// inside is Twin for a node of a graph that another node contains.
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
