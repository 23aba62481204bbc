//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
)

// edgesAt returns the edges in two C arrays.
func edgesAt(from, to *C.CUgraphNode, n C.size_t) ([]graph.Edge, error) {
	a, err := nodesAt(from, n)
	if err != nil {
		return nil, err
	}
	b, err := nodesAt(to, n)
	if err != nil {
		return nil, err
	}
	edges := make([]graph.Edge, n)
	for i := range edges {
		edges[i] = graph.Edge{From: a[i], To: b[i]}
	}
	return edges, nil
}

// noEdgeData reports whether the data of n edges is zero, that is, whether they
// only order. Ports and programmatic launches are not simulated.
func noEdgeData(data *C.CUgraphEdgeData, n C.size_t) bool {
	if data == nil {
		return true
	}
	list, err := listAt(data, n)
	for _, d := range list {
		if d != (C.CUgraphEdgeData{}) {
			return false
		}
	}
	return err == nil
}

// editEdges is edit for a function that adds or removes edges.
func editEdges(h C.CUgraph, from, to *C.CUgraphNode, n C.size_t, data *C.CUgraphEdgeData, do func(*graph.Graph, []graph.Edge) error) C.CUresult {
	return edit(func(*thread) error {
		g, err := graphOf(h)
		if err != nil {
			return err
		}
		edges, err := edgesAt(from, to, n)
		if err != nil {
			return err
		}
		if !noEdgeData(data, n) {
			return notSupported
		}
		return do(g, edges)
	})
}

// sim_cuGraphAddDependencies adds all edges or, with an error, none. Edges may form a cycle, which instantiation
// detects.
//
//export sim_cuGraphAddDependencies
func sim_cuGraphAddDependencies(g C.CUgraph, from, to *C.CUgraphNode, n C.size_t) C.CUresult {
	return editEdges(g, from, to, n, nil, (*graph.Graph).Connect)
}

//export sim_cuGraphAddDependencies_v2
func sim_cuGraphAddDependencies_v2(g C.CUgraph, from, to *C.CUgraphNode, data *C.CUgraphEdgeData, n C.size_t) C.CUresult {
	return editEdges(g, from, to, n, data, (*graph.Graph).Connect)
}

// disconnect removes edges. A graph with memory nodes must keep its edges, which determine the lifetimes of memory.
func disconnect(g *graph.Graph, edges []graph.Edge) error {
	if hasMemoryNodes(g) {
		return invalidValue
	}
	return g.Disconnect(edges)
}

//export sim_cuGraphRemoveDependencies
func sim_cuGraphRemoveDependencies(g C.CUgraph, from, to *C.CUgraphNode, n C.size_t) C.CUresult {
	return editEdges(g, from, to, n, nil, disconnect)
}

//export sim_cuGraphRemoveDependencies_v2
func sim_cuGraphRemoveDependencies_v2(g C.CUgraph, from, to *C.CUgraphNode, data *C.CUgraphEdgeData, n C.size_t) C.CUresult {
	return editEdges(g, from, to, n, data, disconnect)
}

// listNodes stores nodes in a C array, and NULL in the rest of the array. Without
// an array it stores the number of nodes.
func listNodes(out *C.CUgraphNode, count *C.size_t, nodes []*graph.Node) error {
	if count == nil {
		return invalidValue
	}
	if out != nil {
		room, err := listAt((*handle)(unsafe.Pointer(out)), *count)
		if err != nil {
			return err
		}
		clear(room)
		nodes = nodes[:min(len(nodes), len(room))]
		for i, n := range nodes {
			room[i] = nodeHandle(n)
		}
	}
	*count = C.size_t(len(nodes))
	return nil
}

// queryGraph is call for a query of a graph.
func queryGraph(h C.CUgraph, body func(*graph.Graph) error) C.CUresult {
	return call(func(*thread) error {
		g, err := graphOf(h)
		if err != nil {
			return err
		}
		return body(g)
	})
}

//export sim_cuGraphGetNodes
func sim_cuGraphGetNodes(h C.CUgraph, out *C.CUgraphNode, count *C.size_t) C.CUresult {
	return queryGraph(h, func(g *graph.Graph) error { return listNodes(out, count, g.Nodes()) })
}

//export sim_cuGraphGetRootNodes
func sim_cuGraphGetRootNodes(h C.CUgraph, out *C.CUgraphNode, count *C.size_t) C.CUresult {
	return queryGraph(h, func(g *graph.Graph) error { return listNodes(out, count, g.Roots()) })
}

// listEdges is listNodes for edges: either both arrays are given or none. data is
// optional.
func listEdges(from, to *C.CUgraphNode, data *C.CUgraphEdgeData, count *C.size_t, edges []graph.Edge) error {
	if count == nil || (from == nil) != (to == nil) || from == nil && data != nil {
		return invalidValue
	}
	starts, ends := make([]*graph.Node, len(edges)), make([]*graph.Node, len(edges))
	for i, e := range edges {
		starts[i], ends[i] = e.From, e.To
	}
	return firstError(clearEdgeData(data, count), listNodes(from, copyOf(count), starts), listNodes(to, count, ends))
}

func copyOf(n *C.size_t) *C.size_t {
	c := *n
	return &c
}

// firstError returns the first error that is not nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// clearEdgeData stores zero data for edges, since edges have none.
func clearEdgeData(data *C.CUgraphEdgeData, count *C.size_t) error {
	if data == nil {
		return nil
	}
	if count == nil {
		return invalidValue
	}
	room, err := listAt(data, *count)
	clear(room)
	return err
}

// sim_cuGraphGetEdges stores edges ordered by their end. Without arrays it stores only their number.
//
//export sim_cuGraphGetEdges
func sim_cuGraphGetEdges(h C.CUgraph, from, to *C.CUgraphNode, count *C.size_t) C.CUresult {
	return sim_cuGraphGetEdges_v2(h, from, to, nil, count)
}

//export sim_cuGraphGetEdges_v2
func sim_cuGraphGetEdges_v2(h C.CUgraph, from, to *C.CUgraphNode, data *C.CUgraphEdgeData, count *C.size_t) C.CUresult {
	return queryGraph(h, func(g *graph.Graph) error { return listEdges(from, to, data, count, g.Edges()) })
}

// listAround stores the neighbours of a node on one side.
func listAround(h C.CUgraphNode, out *C.CUgraphNode, data *C.CUgraphEdgeData, count *C.size_t, side func(*graph.Node) []*graph.Node) C.CUresult {
	return call(func(*thread) error {
		n, err := nodeOf(h)
		if err != nil {
			return err
		}
		if out == nil && data != nil {
			return invalidValue
		}
		return firstError(clearEdgeData(data, count), listNodes(out, count, side(n)))
	})
}

//export sim_cuGraphNodeGetDependencies
func sim_cuGraphNodeGetDependencies(h C.CUgraphNode, out *C.CUgraphNode, count *C.size_t) C.CUresult {
	return listAround(h, out, nil, count, (*graph.Node).Deps)
}

//export sim_cuGraphNodeGetDependencies_v2
func sim_cuGraphNodeGetDependencies_v2(h C.CUgraphNode, out *C.CUgraphNode, data *C.CUgraphEdgeData, count *C.size_t) C.CUresult {
	return listAround(h, out, data, count, (*graph.Node).Deps)
}

//export sim_cuGraphNodeGetDependentNodes
func sim_cuGraphNodeGetDependentNodes(h C.CUgraphNode, out *C.CUgraphNode, count *C.size_t) C.CUresult {
	return listAround(h, out, nil, count, (*graph.Node).Outs)
}

//export sim_cuGraphNodeGetDependentNodes_v2
func sim_cuGraphNodeGetDependentNodes_v2(h C.CUgraphNode, out *C.CUgraphNode, data *C.CUgraphEdgeData, count *C.size_t) C.CUresult {
	return listAround(h, out, data, count, (*graph.Node).Outs)
}
