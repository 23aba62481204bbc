package graph

// Step is a node of a flattened graph, in which child graphs are expanded and
// dependencies come first. A step without a node only joins others.
type Step struct {
	Node *Node
	Deps []int32
}

// mark is the state of a node in a depth-first walk.
type mark uint8

const (
	unseen mark = iota
	open
	done
)

// Flatten returns the nodes in an order of execution: the order of creation as far
// as dependencies allow. It is a depth-first topological sort, linear in nodes and
// edges. If there is a cycle, it returns a node of it.
//
// A child graph starts after the dependencies of its node, and the dependents of
// the node wait for all of the child. If several steps precede several others, a
// join is inserted between them, so that the number of edges is their sum and not
// their product.
func (g *Graph) Flatten() (steps []Step, cycle *Node) {
	f := flattener{}
	if n := f.graph(g, nil); n != nil {
		return nil, n
	}
	return f.steps, nil
}

type flattener struct{ steps []Step }

// add returns the index of the new step.
func (f *flattener) add(n *Node, deps []int32) int32 {
	f.steps = append(f.steps, Step{n, deps})
	return int32(len(f.steps) - 1)
}

// join returns at most one step that represents all of the given ones.
func (f *flattener) join(all []int32) []int32 {
	if len(all) > 1 {
		return []int32{f.add(nil, all)}
	}
	return all
}

// graph flattens a graph whose roots follow the given steps. It returns a node of a
// cycle, or nil.
func (f *flattener) graph(g *Graph, after []int32) *Node {
	for _, n := range g.nodes {
		n.mark = unseen
	}
	for _, n := range g.nodes {
		if bad := f.visit(n, after); bad != nil {
			return bad
		}
	}
	return nil
}

func (f *flattener) visit(n *Node, after []int32) *Node {
	switch n.mark {
	case done:
		return nil
	case open:
		return n
	}
	n.mark = open
	deps := after
	if len(n.deps) > 0 {
		deps = make([]int32, 0, len(n.deps))
	}
	for _, d := range n.deps {
		if bad := f.visit(d, after); bad != nil {
			return bad
		}
		if d.step != nowhere {
			deps = append(deps, d.step)
		}
	}
	n.mark = done
	return f.place(n, deps)
}

// nowhere is the step of an empty child graph without dependencies.
const nowhere = -1

func (f *flattener) place(n *Node, deps []int32) *Node {
	child, ok := n.params.(Child)
	if !ok {
		n.step = f.add(n, deps)
		return nil
	}
	before := f.join(deps)
	if bad := f.graph(child.Graph, before); bad != nil {
		return bad
	}
	ends := before
	if sinks := child.Graph.Sinks(); len(sinks) > 0 {
		ends = nil
		for _, s := range sinks {
			if s.step != nowhere {
				ends = append(ends, s.step)
			}
		}
	}
	n.step = nowhere
	if all := f.join(ends); len(all) > 0 {
		n.step = all[0]
	}
	return nil
}

// Step returns the node's index in the last result of Flatten. For a child graph it
// is the index of its end, or negative.
func (n *Node) Step() int { return int(n.step) }
