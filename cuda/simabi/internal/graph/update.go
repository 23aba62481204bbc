package graph

// Reason is the cause why an instance cannot be updated. The values are the
// driver's.
type Reason int

// The reasons; Same stands for no difference.
const (
	Same Reason = iota
	OtherError
	TopologyChanged
	TypeChanged
	FunctionChanged
	ParametersChanged
	NotSupported
	FunctionChangeUnsupported
	AttributesChanged
)

// Mismatch is a difference between two graphs that prevents an update.
type Mismatch struct {
	Reason Reason
	Node   *Node // of the new graph; nil if they differ as a whole
	From   *Node // of the new graph, if the edge from it to Node is the difference
}

// Pair is a node of an instance and the node whose work it takes over.
type Pair struct{ Old, New *Node }

// Match pairs the nodes of an instance's graph with those of another graph,
// including nested graphs, or returns the first difference.
//
// The rule is that of the documentation of cuGraphExecUpdate: sinks are paired in
// their order, then dependencies of paired nodes in the order of their edges. A
// node is thus identified by its paths to the end, and not by the time when it was
// added. The cost is linear in nodes and edges.
func Match(instance, g *Graph) ([]Pair, *Mismatch) {
	m := matcher{}
	if bad := m.graphs(instance, g); bad != nil {
		return nil, bad
	}
	return m.pairs, nil
}

type matcher struct {
	pairs []Pair
	news  map[*Node]*Node // by old
	olds  map[*Node]*Node // by new
}

func (m *matcher) graphs(x, g *Graph) *Mismatch {
	if len(x.nodes) != len(g.nodes) {
		return &Mismatch{Reason: TopologyChanged}
	}
	outer := *m
	m.news, m.olds = make(map[*Node]*Node, len(x.nodes)), make(map[*Node]*Node, len(x.nodes))
	first := len(m.pairs)
	old, sinks := x.Sinks(), g.Sinks()
	for i, n := range sinks {
		if i == len(old) {
			return &Mismatch{Reason: TopologyChanged, Node: n}
		}
		m.pair(old[i], n)
	}
	for i := first; i < len(m.pairs); i++ {
		if bad := m.deps(m.pairs[i]); bad != nil {
			return bad
		}
	}
	last := len(m.pairs)
	m.news, m.olds = outer.news, outer.olds
	for _, p := range m.pairs[first:last] {
		if bad := m.params(p); bad != nil {
			return bad
		}
	}
	return nil
}

func (m *matcher) pair(old, n *Node) {
	m.news[old], m.olds[n] = n, old
	m.pairs = append(m.pairs, Pair{old, n})
}

// deps pairs the dependencies of a pair.
func (m *matcher) deps(p Pair) *Mismatch {
	if len(p.Old.deps) != len(p.New.deps) {
		return &Mismatch{Reason: TopologyChanged, Node: p.New}
	}
	for i, n := range p.New.deps {
		old := p.Old.deps[i]
		switch {
		case m.news[old] == nil && m.olds[n] == nil:
			m.pair(old, n)
		case m.news[old] != n:
			return &Mismatch{Reason: TopologyChanged, Node: p.New, From: n}
		}
	}
	return nil
}

// params compares the parameters of a pair.
func (m *matcher) params(p Pair) *Mismatch {
	was, is := p.Old.params, p.New.params
	if was.Kind() != is.Kind() {
		return &Mismatch{Reason: TypeChanged, Node: p.New}
	}
	if why := was.Becomes(is); why != Same {
		return &Mismatch{Reason: why, Node: p.New}
	}
	nest, ok := was.(Nest)
	if !ok {
		return nil
	}
	bodies, others := nest.Bodies(), is.(Nest).Bodies()
	if len(bodies) != len(others) {
		return &Mismatch{Reason: ParametersChanged, Node: p.New}
	}
	for i, b := range bodies {
		if bad := m.graphs(b, others[i]); bad != nil {
			return bad
		}
	}
	return nil
}
