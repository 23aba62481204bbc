package dag

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/dense"
)

// errNoGraph is the error for a graph that is nil.
const errNoGraph = absent.Error("dag: the graph is nil: pass a gonum graph; one without nodes is valid")

// index numbers the nodes of a graph from 0.
type index struct {
	nodes  []graph.Node // by number
	number map[int64]int32
}

// byID numbers nodes in the order of their IDs.
func byID(it graph.Nodes) index {
	nodes := slices.Clone(graph.NodesOf(it)) // which may be the graph's own
	slices.SortFunc(nodes, func(a, b graph.Node) int { return cmp.Compare(a.ID(), b.ID()) })
	return newIndex(nodes)
}

func newIndex(nodes []graph.Node) index {
	x := index{nodes: nodes, number: make(map[int64]int32, len(nodes))}
	for i, n := range nodes {
		x.number[n.ID()] = int32(i)
	}
	return x
}

// of returns the number of the node with the given ID, if there is one. It looks into the map only if
// the ID is not the number.
func (x index) of(id int64) (v int32, ok bool) {
	if 0 <= id && id < int64(len(x.nodes)) && x.nodes[id].ID() == id {
		return int32(id), true
	}
	v, ok = x.number[id]
	return v, ok
}

// list returns the nodes with these numbers.
func list(nodes []graph.Node, numbers []int32) []graph.Node {
	some := make([]graph.Node, len(numbers))
	for i, v := range numbers {
		some[i] = nodes[v]
	}
	return some
}

// neighbours returns, for each node, the numbers of the nodes that next returns.
func (x index) neighbours(next func(id int64) graph.Nodes) [][]int32 {
	rows := make([][]int32, len(x.nodes))
	for v, n := range x.nodes {
		for to := next(n.ID()); to.Next(); {
			rows[v] = append(rows[v], x.number[to.Node().ID()])
		}
	}
	return rows
}

// denseOf returns g with its nodes numbered in topological order, and the nodes by number. Among all
// topological orders it takes the lexicographically least one by IDs.
func denseOf(g graph.Directed) (*dense.Graph, []graph.Node, error) {
	if absent.Is(g) {
		return nil, nil, errNoGraph
	}
	x := byID(g.Nodes())
	succs := x.neighbours(g.From)
	order := dense.Order(func(v int32) []int32 { return succs[v] }, make([]int32, len(succs)))
	if len(order) < len(succs) {
		return nil, nil, unorderable(g, x, succs)
	}
	place, m := make([]int32, len(order)), 0
	for i, v := range order {
		place[v] = int32(i)
		m += len(succs[v])
	}
	edges := make([]dense.Edge, 0, m)
	for _, u := range order {
		for _, v := range succs[u] {
			edges = append(edges, dense.Edge{From: place[u], To: place[v]})
		}
	}
	return dense.NewGraph(len(order), edges), list(x.nodes, order), nil
}

// unorderable returns the error for a graph with cycles. It adds the nodes whose only cycle is an edge
// to themselves, which gonum's sort leaves out.
func unorderable(g graph.Directed, x index, succs [][]int32) error {
	_, err := topo.Sort(g)
	cycles, _ := err.(topo.Unorderable)
	inCycle := map[int64]bool{}
	for _, c := range cycles {
		for _, n := range c {
			inCycle[n.ID()] = true
		}
	}
	for v, n := range x.nodes {
		if slices.Contains(succs[v], int32(v)) && !inCycle[n.ID()] {
			cycles = append(cycles, []graph.Node{n})
		}
	}
	return cycles
}
