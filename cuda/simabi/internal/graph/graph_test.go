package graph

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// toy holds parameters of a test: a kind, and a number that may change unless the kind is 13.
type toy struct {
	kind  Kind
	value int
}

func (t toy) Kind() Kind { return t.kind }

func (t toy) Becomes(next Params) Reason {
	if t.value == 13 && next.(toy).value != 13 {
		return ParametersChanged
	}
	return Same
}

// model is a graph as an adjacency matrix, the oracle of the tests.
type model struct {
	g     *Graph
	nodes []*Node
	edge  map[[2]int]bool // from, to
	gone  map[int]bool
}

func newModel() *model { return &model{g: New(), edge: map[[2]int]bool{}, gone: map[int]bool{}} }

func (m *model) alive() []int {
	var out []int
	for i := range m.nodes {
		if !m.gone[i] {
			out = append(out, i)
		}
	}
	return out
}

// edit makes a random change to the graph and the model. Both must accept or refuse it.
func (m *model) edit(t *testing.T, rng *rand.Rand) {
	alive := m.alive()
	pick := func() int { return alive[rng.IntN(len(alive))] }
	switch k := rng.IntN(10); {
	case k < 4 || len(alive) < 2:
		var deps []*Node
		for _, i := range alive {
			if rng.IntN(4) == 0 {
				deps = append(deps, m.nodes[i])
				m.edge[[2]int{i, len(m.nodes)}] = true
			}
		}
		n, err := m.g.Add(toy{KernelNode, len(m.nodes)}, deps...)
		require.NoError(t, err)
		m.nodes = append(m.nodes, n)
	case k < 7:
		e := [2]int{pick(), pick()}
		if rng.IntN(8) > 0 { // mostly forwards, so that not every graph has a cycle
			e = [2]int{min(e[0], e[1]), max(e[0], e[1])}
		}
		err := m.g.Connect([]Edge{{m.nodes[e[0]], m.nodes[e[1]]}})
		require.Equal(t, m.edge[e], err != nil, "an edge is added once")
		m.edge[e] = true
	case k < 9:
		e := [2]int{pick(), pick()}
		err := m.g.Disconnect([]Edge{{m.nodes[e[0]], m.nodes[e[1]]}})
		require.Equal(t, m.edge[e], err == nil, "an edge is removed if it is there")
		delete(m.edge, e)
	default:
		i := pick()
		m.g.Remove(m.nodes[i])
		m.gone[i] = true
		for e := range m.edge {
			if e[0] == i || e[1] == i {
				delete(m.edge, e)
			}
		}
	}
}

func (m *model) index(n *Node) int { return slices.Index(m.nodes, n) }

// same requires that all queries of the graph agree with the model.
func (m *model) same(t *testing.T) {
	edges := map[[2]int]bool{}
	for _, e := range m.g.Edges() {
		edges[[2]int{m.index(e.From), m.index(e.To)}] = true
	}
	require.Equal(t, m.edge, edges)
	require.Len(t, m.g.Edges(), len(m.edge))
	var roots, sinks []int
	for _, i := range m.alive() {
		in, out := 0, 0
		for e := range m.edge {
			if e[1] == i {
				in++
			}
			if e[0] == i {
				out++
			}
		}
		require.Len(t, m.nodes[i].Deps(), in)
		require.Len(t, m.nodes[i].Outs(), out)
		if in == 0 {
			roots = append(roots, i)
		}
		if out == 0 {
			sinks = append(sinks, i)
		}
	}
	require.Equal(t, roots, m.indices(m.g.Roots()))
	require.ElementsMatch(t, sinks, m.indices(m.g.Sinks()))
	require.Equal(t, m.alive(), m.indices(m.g.Nodes()))
}

func (m *model) indices(nodes []*Node) (out []int) {
	for _, n := range nodes {
		out = append(out, m.index(n))
	}
	return out
}

// cyclic reports whether a node reaches itself.
func (m *model) cyclic() bool {
	reach := map[[2]int]bool{}
	for e := range m.edge {
		reach[e] = true
	}
	for k := range m.nodes {
		for i := range m.nodes {
			for j := range m.nodes {
				reach[[2]int{i, j}] = reach[[2]int{i, j}] || reach[[2]int{i, k}] && reach[[2]int{k, j}]
			}
		}
	}
	for i := range m.nodes {
		if reach[[2]int{i, i}] {
			return true
		}
	}
	return false
}

func TestGraphsAnswerWhatWasDone(t *testing.T) {
	cycles := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := newModel()
		for range 30 {
			m.edit(t, rng)
			m.same(t)
		}
		steps, cycle := m.g.Flatten()
		require.Equal(t, m.cyclic(), cycle != nil, "seed %d", seed)
		if cycle != nil {
			cycles++
			continue
		}
		place := map[*Node]int{}
		for i, s := range steps {
			place[s.Node] = i
			require.Equal(t, i, s.Node.Step())
			require.Len(t, s.Deps, len(s.Node.Deps()))
			for k, d := range s.Deps {
				require.Less(t, int(d), i)
				require.Equal(t, s.Node.Deps()[k], steps[d].Node)
			}
		}
		require.Len(t, place, len(m.alive()))
	}
	assert.Greater(t, cycles, 20)
	assert.Less(t, cycles, 180)
}

func TestEditsAreAllOrNothing(t *testing.T) {
	g, other := New(), New()
	a, _ := g.Add(Empty{})
	b, _ := g.Add(Empty{})
	c, _ := other.Add(Empty{})
	for _, edges := range [][]Edge{{{a, b}, {a, c}}, {{a, b}, {a, b}}, {{b, a}, {c, a}}} {
		require.Error(t, g.Connect(edges))
		require.Empty(t, g.Edges())
	}
	require.NoError(t, g.Connect([]Edge{{a, b}}))
	for _, edges := range [][]Edge{{{a, b}, {b, a}}, {{a, b}, {a, b}}} {
		require.Error(t, g.Disconnect(edges))
		require.Len(t, g.Edges(), 1)
	}
	_, err := g.Add(Empty{}, a, a)
	require.Error(t, err)
	_, err = g.Add(Empty{}, c)
	require.Error(t, err)
	require.Len(t, g.Nodes(), 2)
}

// random returns an acyclic graph with child graphs, nested up to a depth.
func random(rng *rand.Rand, depth int) *Graph {
	g := New()
	for i := range rng.IntN(6) {
		var deps []*Node
		for _, n := range g.Nodes() {
			if rng.IntN(3) == 0 {
				deps = append(deps, n)
			}
		}
		p := Params(toy{Kind(rng.IntN(2)), i})
		if depth > 0 && rng.IntN(3) == 0 {
			p = Child{random(rng, depth-1)}
		}
		if _, err := g.Add(p, deps...); err != nil {
			panic(err)
		}
	}
	return g
}

// leaves returns the nodes that a graph runs, and the pairs between which there is an order. A child graph begins after
// the dependencies of its node and ends before the dependents.
func leaves(g *Graph) (all []*Node, before map[[2]*Node]bool) {
	before = map[[2]*Node]bool{}
	inside := map[*Node][]*Node{}
	for _, n := range g.Nodes() {
		inside[n] = []*Node{n}
		if c, ok := n.Params().(Child); ok {
			below, order := leaves(c.Graph)
			inside[n] = below
			for pair := range order {
				before[pair] = true
			}
		}
		all = append(all, inside[n]...)
	}
	var reaches func(a, b *Node) bool
	reaches = func(a, b *Node) bool {
		return slices.ContainsFunc(b.Deps(), func(d *Node) bool { return d == a || reaches(a, d) })
	}
	for _, a := range g.Nodes() {
		for _, b := range g.Nodes() {
			if reaches(a, b) {
				for _, x := range inside[a] {
					for _, y := range inside[b] {
						before[[2]*Node{x, y}] = true
					}
				}
			}
		}
	}
	return all, before
}

func TestFlattenKeepsExactlyTheOrder(t *testing.T) {
	for seed := range uint64(500) {
		g := random(rand.New(rand.NewPCG(seed, 2)), 2)
		all, want := leaves(g)
		steps, cycle := g.Flatten()
		require.Nil(t, cycle)
		after := make([]map[int]bool, len(steps)) // the steps before each
		var got []*Node
		have := map[[2]*Node]bool{}
		for i, s := range steps {
			after[i] = map[int]bool{}
			for _, d := range s.Deps {
				after[i][int(d)] = true
				for k := range after[d] {
					after[i][k] = true
				}
			}
			if s.Node == nil {
				continue
			}
			got = append(got, s.Node)
			for k := range after[i] {
				if steps[k].Node != nil {
					have[[2]*Node{steps[k].Node, s.Node}] = true
				}
			}
		}
		require.ElementsMatch(t, all, got, "seed %d", seed)
		require.Equal(t, want, have, "seed %d", seed)
	}
}

func TestClonesRemember(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		g := random(rng, 2)
		c := g.Clone()
		var check func(g, c *Graph)
		check = func(g, c *Graph) {
			require.Len(t, c.Nodes(), len(g.Nodes()))
			for i, n := range g.Nodes() {
				twin := c.Nodes()[i]
				require.Same(t, twin, c.Twin(n))
				require.NotSame(t, twin, n)
				require.Len(t, twin.Deps(), len(n.Deps()))
				for k, d := range n.Deps() {
					require.Same(t, c.Twin(d), twin.Deps()[k])
				}
				if b, ok := n.Params().(Child); ok {
					inner := twin.Params().(Child).Graph
					require.Same(t, twin, inner.Owner())
					check(b.Graph, inner)
				} else {
					require.Equal(t, n.Params(), twin.Params())
				}
			}
		}
		check(g, c)
		for _, n := range g.Nodes() {
			if b, ok := n.Params().(Child); ok {
				for _, inner := range b.Graph.Nodes() {
					twin := c.Twin(inner)
					require.Same(t, c.Twin(n).Params().(Child).Graph, twin.Graph(), "found at any depth")
				}
			}
		}
		if len(g.Nodes()) > 0 {
			n := g.Nodes()[0]
			c.Remove(c.Twin(n))
			require.Nil(t, c.Twin(n), "removed from the clone")
			stranger, _ := New().Add(Empty{})
			require.Nil(t, c.Twin(stranger))
		}
	}
}

// TestLargeGraphsAreQuick builds graphs of ten thousand nodes in several shapes, which must take milliseconds.
func TestLargeGraphsAreQuick(t *testing.T) {
	const n = 10_000
	shapes := map[string]func(i int, nodes []*Node) []*Node{
		"chain":   func(i int, nodes []*Node) []*Node { return nodes[max(0, i-1):i] },
		"wide":    func(int, []*Node) []*Node { return nil },
		"fan out": func(i int, nodes []*Node) []*Node { return nodes[:min(1, i)] },
		"fan in": func(i int, nodes []*Node) []*Node {
			if i == n-1 {
				return nodes
			}
			return nil
		},
	}
	for name, deps := range shapes {
		start := time.Now()
		g := New()
		for i := range n {
			_, err := g.Add(toy{KernelNode, i}, deps(i, g.Nodes())...)
			require.NoError(t, err)
		}
		c := g.Clone()
		pairs, bad := Match(c, g)
		require.Nil(t, bad, name)
		require.Len(t, pairs, n)
		steps, cycle := c.Flatten()
		require.Nil(t, cycle)
		require.Len(t, steps, n)
		for _, node := range slices.Clone(g.Nodes()) {
			g.Remove(node)
		}
		require.Empty(t, g.Nodes())
		assert.Less(t, time.Since(start), 5*time.Second, name)
		t.Logf("%s: %v", name, time.Since(start))
	}
}
