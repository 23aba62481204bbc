package dag_test

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/graph/coloring"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/reprise-gpu/reprise/dag"
)

// tasks is 0 ─► 1 ─► 3 and 0 ─► 2 ─► 4, with 0 ─► 3 besides.
func tasks() *simple.DirectedGraph {
	g := simple.NewDirectedGraph()
	for _, e := range [][2]int64{{0, 1}, {1, 3}, {0, 2}, {2, 4}, {0, 3}} {
		g.SetEdge(simple.Edge{F: simple.Node(e[0]), T: simple.Node(e[1])})
	}
	return g
}

// Reduce takes and returns a gonum graph.
func ExampleReduce() {
	g := tasks()
	reduced, err := dag.Reduce(g)
	if err != nil {
		panic(err)
	}
	fmt.Println(g.Edges().Len(), "edges,", reduced.Edges().Len(), "needed")
	fmt.Println("0 -> 3:", reduced.HasEdgeFromTo(0, 3))
	// Output:
	// 5 edges, 4 needed
	// 0 -> 3: false
}

// The error for a graph with a cycle is of gonum's type.
func ExampleReduce_cycle() {
	g := tasks()
	g.SetEdge(simple.Edge{F: simple.Node(3), T: simple.Node(1)})
	_, err := dag.Reduce(g)
	var cycles topo.Unorderable
	isCycle := errors.As(err, &cycles)
	fmt.Println(isCycle, cycles)
	// Output: true topo: no topological ordering: cyclic components: [[1 3]]
}

func ExampleMinimumPathCover() {
	paths, err := dag.MinimumPathCover(tasks())
	fmt.Println(paths, err)
	// Output: [[0 1 3] [2 4]] <nil>
}

// Paths of a path cover are disjoint, so only one passes node 2. A chain may skip it: 4 follows 1.
func ExampleMinimumChainCover() {
	g := simple.NewDirectedGraph()
	for _, e := range [][2]int64{{0, 2}, {1, 2}, {2, 3}, {2, 4}} {
		g.SetEdge(simple.Edge{F: simple.Node(e[0]), T: simple.Node(e[1])})
	}
	paths, err := dag.MinimumPathCover(g)
	fmt.Println(paths, err)
	chains, err := dag.MinimumChainCover(g)
	fmt.Println(chains, err)
	// Output:
	// [[0 2 3] [1] [4]] <nil>
	// [[0 2 3] [1 4]] <nil>
}

func ExampleMaximumAntichain() {
	nodes, err := dag.MaximumAntichain(tasks())
	fmt.Println("width", len(nodes), nodes, err)
	// Output: width 2 [1 2] <nil>
}

// gonum's DSATUR colours the pairs of nodes that no path orders.
func ExampleIncomparability() {
	g, err := dag.Incomparability(tasks())
	if err != nil {
		panic(err)
	}
	k, colors, err := coloring.Dsatur(g, nil)
	fmt.Println(k, "colours:", colors[0], colors[1], colors[2], colors[3], colors[4], err)
	// Output: 2 colours: 0 0 1 0 1 <nil>
}

func ExampleMaximumMatching() {
	g := simple.NewUndirectedGraph() // workers 1 and 2, jobs 11 and 12
	for _, e := range [][2]int64{{1, 11}, {1, 12}, {2, 11}} {
		g.SetEdge(simple.Edge{F: simple.Node(e[0]), T: simple.Node(e[1])})
	}
	matching, err := dag.MaximumMatching(g)
	for _, e := range matching {
		fmt.Println(e.From(), e.To())
	}
	fmt.Println(err)
	// Output:
	// 1 12
	// 2 11
	// <nil>
}

// A cycle of five nodes needs three colours.
func ExampleExactColoring() {
	g := simple.NewUndirectedGraph()
	for v := range int64(5) {
		g.SetEdge(simple.Edge{F: simple.Node(v), T: simple.Node((v + 1) % 5)})
	}
	k, _, err := dag.ExactColoring(g, 0, 1000)
	fmt.Println(k, err)
	_, err = dag.MaximumMatching(g)
	var cycle dag.NotBipartite
	odd := errors.As(err, &cycle)
	fmt.Println(odd, len(cycle))
	// Output:
	// 3 <nil>
	// true 5
}
