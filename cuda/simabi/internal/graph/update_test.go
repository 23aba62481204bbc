package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// builder builds a graph and keeps its sinks in the order that the documented rule defines.
type builder struct {
	*Graph
	sinks []*Node
}

func (b *builder) add(p Params, deps ...*Node) {
	n, err := b.Add(p, deps...)
	if err != nil {
		panic(err)
	}
	b.sinks = append(b.sinks, n)
	for _, d := range deps {
		b.sinks = slices.DeleteFunc(b.sinks, func(s *Node) bool { return s == d })
	}
}

func (b *builder) disconnect(e Edge) {
	if err := b.Disconnect([]Edge{e}); err != nil {
		panic(err)
	}
	if len(e.From.Outs()) == 0 {
		b.sinks = append(b.sinks, e.From)
	}
}

// build runs a random program of edits. If m is the number of a step, that step is left out or
// changed.
func build(seed uint64, m int) *builder {
	rng := rand.New(rand.NewPCG(seed, 4))
	b := &builder{Graph: New()}
	for step := range 6 {
		p := toy{Kind(rng.IntN(2)), 12 + rng.IntN(2)}
		var deps []*Node
		for _, n := range b.Nodes() {
			if rng.IntN(3) == 0 {
				deps = append(deps, n)
			}
		}
		remove := rng.IntN(4) == 0
		switch {
		case m == 4*step:
			p.value++
		case m == 4*step+1:
			p.kind = MemcpyNode - p.kind
		case m == 4*step+2:
			slices.Reverse(deps)
		case m == 4*step+3 && len(deps) > 0:
			deps = deps[1:]
		}
		b.add(p, deps...)
		if e := b.Edges(); remove && len(e) > 0 {
			b.disconnect(e[rng.IntN(len(e))])
		}
	}
	return b
}

// paths maps each path from a sink back to a node, as a list of edge positions, to the node.
func (b *builder) paths() map[string]*Node {
	found := map[string]*Node{}
	var walk func(path string, n *Node)
	walk = func(path string, n *Node) {
		found[path] = n
		for i, d := range n.Deps() {
			walk(fmt.Sprint(path, ".", i), d)
		}
	}
	for i, n := range b.sinks {
		walk(fmt.Sprint(i), n)
	}
	return found
}

// expect returns the result that Match must return. Nodes at the end of equal paths are pairs. The topologies are
// equal if the sets of paths are, and any two paths lead to the same node in both graphs or in neither.
func expect(x, g *builder) Reason {
	a, b := x.paths(), g.paths()
	if len(a) != len(b) {
		return TopologyChanged
	}
	twin, back := map[*Node]*Node{}, map[*Node]*Node{}
	for path, n := range a {
		m := b[path]
		if m == nil || twin[n] != nil && twin[n] != m || back[m] != nil && back[m] != n {
			return TopologyChanged
		}
		twin[n], back[m] = m, n
	}
	worst := Same
	for n, m := range twin {
		was, is := n.Params().(toy), m.Params().(toy)
		switch {
		case was.kind != is.kind:
			return TypeChanged
		case was.value == 13 && is.value != 13:
			worst = ParametersChanged
		}
	}
	return worst
}

// TestMatchFollowsTheRule matches graphs that were built by the same edits, with or without a mutation.
func TestMatchFollowsTheRule(t *testing.T) {
	seen := map[Reason]int{}
	for seed := range uint64(300) {
		x := build(seed, -1)
		require.Equal(t, x.sinks, x.Sinks())
		for m := -1; m < 24; m++ {
			g := build(seed, m)
			if m < 0 && seed%3 == 0 {
				g = build(seed+1, -1)
			}
			want := expect(x, g)
			pairs, bad := Match(x.Graph.Clone(), g.Graph)
			seen[want]++
			if want == Same {
				require.Nil(t, bad, "seed %d, mutation %d", seed, m)
				require.Len(t, pairs, len(g.Nodes()))
				continue
			}
			require.NotNil(t, bad, "seed %d, mutation %d", seed, m)
			if want != TopologyChanged { // any of several changed nodes may be reported
				require.Contains(t, []Reason{TypeChanged, ParametersChanged}, bad.Reason)
				require.Same(t, g.Graph, bad.Node.Graph())
			} else {
				require.Equal(t, TopologyChanged, bad.Reason)
			}
		}
	}
	for _, r := range []Reason{Same, TopologyChanged, TypeChanged, ParametersChanged} {
		assert.Greater(t, seen[r], 100, "%d", r)
	}
}

// TestTopologiesDiffer checks each documented difference between topologies, and the reported nodes.
func TestTopologiesDiffer(t *testing.T) {
	make := func(edges ...[2]int) (*Graph, []*Node) {
		g := New()
		var n []*Node
		for range 4 {
			x, err := g.Add(Empty{})
			require.NoError(t, err)
			n = append(n, x)
		}
		for _, e := range edges {
			require.NoError(t, g.Connect([]Edge{{n[e[0]], n[e[1]]}}))
		}
		return g, n
	}
	diamond, _ := make([2]int{0, 1}, [2]int{0, 2}, [2]int{1, 3}, [2]int{2, 3})

	_, bad := Match(diamond, New())
	assert.Equal(t, &Mismatch{Reason: TopologyChanged}, bad, "another number of nodes")

	g, n := make([2]int{0, 1}, [2]int{0, 2}, [2]int{1, 3})
	_, bad = Match(diamond, g)
	assert.Equal(t, TopologyChanged, bad.Reason)
	assert.Contains(t, []*Node{n[2], n[3]}, bad.Node, "one more sink")
	assert.Nil(t, bad.From)

	g, n = make([2]int{0, 1}, [2]int{0, 2}, [2]int{1, 3}, [2]int{2, 3}, [2]int{0, 3})
	_, bad = Match(diamond, g)
	assert.Equal(t, &Mismatch{Reason: TopologyChanged, Node: n[3]}, bad, "another number of dependencies")

	g, _ = make([2]int{0, 2}, [2]int{1, 2}, [2]int{1, 3}, [2]int{2, 3})
	_, bad = Match(diamond, g)
	assert.Equal(t, TopologyChanged, bad.Reason, "dependencies that pair in two ways")

	two := func() *Graph {
		g := New()
		inner, _ := make([2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3})
		_, err := g.Add(Child{inner})
		require.NoError(t, err)
		return g
	}
	x, g := two(), two()
	pairs, bad := Match(x, g)
	require.Nil(t, bad)
	require.Len(t, pairs, 5, "the child and what is in it")
	inner := g.Nodes()[0].Params().(Child).Graph
	require.NoError(t, inner.Connect([]Edge{{inner.Nodes()[0], inner.Nodes()[3]}}))
	_, bad = Match(x, g)
	assert.Equal(t, &Mismatch{Reason: TopologyChanged, Node: inner.Nodes()[3]}, bad, "inside a child graph")
}
