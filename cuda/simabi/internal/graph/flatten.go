package graph

// Step is one node of a graph that was laid out: its child graphs are part of it,
// and dependencies come first. A step without a node only joins others.
type Step struct {
	Node *Node
	Deps []int32
}

// mark says how far a walk has come with a node.
type mark uint8

const (
	unseen mark = iota
	open
	done
)

// Flatten lays a graph out in an order of execution: that of creation, where
// dependencies allow. It fails when there is a cycle, and says where.
//
// A child graph begins after all that its node depends on, and what depends on the
// node waits for all of it. Where many meet many a join stands between, so that
// there are not as many edges as pairs.
func (g *Graph) Flatten() (steps []Step, cycle *Node) {
	f := flattener{}
	if n := f.graph(g, nil); n != nil {
		return nil, n
	}
	return f.steps, nil
}

type flattener struct{ steps []Step }

// add returns the new step's place.
func (f *flattener) add(n *Node, deps []int32) int32 {
	f.steps = append(f.steps, Step{n, deps})
	return int32(len(f.steps) - 1)
}

// join is one step, or none, that stands for all.
func (f *flattener) join(all []int32) []int32 {
	if len(all) > 1 {
		return []int32{f.add(nil, all)}
	}
	return all
}

// graph lays out a graph whose roots run after others, and returns a node of a
// cycle, if there is one.
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

// nowhere is the step of a child graph that holds nothing and depends on nothing.
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

// Step is the node's place in what Flatten returned last; a child graph's is that
// of its end, or negative.
func (n *Node) Step() int { return int(n.step) }
