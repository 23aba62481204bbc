//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
)

// The parts of graphs:
//
//	package graph            nodes, edges, clones, flattening, and the rule for updates; independent of C
//	graphnode.go             adding, querying and changing nodes of any kind
//	*node.go                 one kind of node each: its parameters, lower and Becomes
//	graphexec.go             instances
//	graphupdate.go           changes of instances
//	graphmemory.go           memory that nodes allocate and free
//	conditional*.go          conditions and conditional nodes
//	userobject.go            objects that live as long as the graphs that use them
//
// An instance is a snapshot. Later changes of the graph do not affect it:
//
//	graph ── cloneGraph ──► graph of the instance (x.graph), which maps nodes of the original to its own: Twin
//	  │
//	  └─ Flatten ─► steps ─ lower ─► []sim.GraphNode ─ InstantiateNodes ─► device.GraphExec (x.sim)
//
// A node of an instance is named by the node of the original graph, so the original must exist for changes.

// Graphs belong to the process, and the work of their nodes to contexts. Graphs and nodes get a handle
// when C receives them for the first time: captures create many nodes that no program queries.
var (
	graphs     handles[aGraph]
	graphNodes handles[aNode]
)

type aGraph struct{ *graph.Graph }

func (aGraph) owner() *context { return nil }

type aNode struct{ *graph.Node }

func (aNode) owner() *context { return nil }

// graphOf returns the graph of a handle. The driver's documentation defines a wrong
// handle as an invalid value.
func graphOf(h C.CUgraph) (*graph.Graph, error) {
	g, err := graphs.get(of(unsafe.Pointer(h)))
	if err != nil {
		return nil, invalidValue
	}
	return g.Graph, nil
}

// nodeOf returns the node of a handle. See graphOf for the error.
func nodeOf(h C.CUgraphNode) (*graph.Node, error) { return nodeNamed(of(unsafe.Pointer(h))) }

func nodeNamed(h handle) (*graph.Node, error) {
	n, err := graphNodes.get(h)
	if err != nil {
		return nil, invalidValue
	}
	return n.Node, nil
}

// graphHandle returns the handle of a graph, a new one if it has none.
func graphHandle(g *graph.Graph) handle {
	if g.Handle == 0 {
		g.Handle = uintptr(graphs.add(aGraph{g}))
	}
	return handle(g.Handle)
}

// nodeHandle returns the handle of a node, NULL for nil.
func nodeHandle(n *graph.Node) handle {
	if n == nil {
		return 0
	}
	if n.Handle == 0 {
		n.Handle = uintptr(graphNodes.add(aNode{n}))
	}
	return handle(n.Handle)
}

// forgetGraph invalidates all handles to a graph and its parts.
func forgetGraph(g *graph.Graph) {
	_, _ = graphs.remove(handle(g.Handle))
	graphRefs[g].release()
	delete(graphRefs, g)
	forgetConditions(g)
	for _, n := range g.Nodes() {
		forgetNode(n)
	}
}

// forgetNode invalidates the handle of a node and frees what belongs to it.
func forgetNode(n *graph.Node) {
	_, _ = graphNodes.remove(handle(n.Handle))
	if a, ok := n.Params().(*allocNode); ok && a.graph == n.Graph() { // not the copy in an instance
		a.forget()
	}
	forgetParams(n)
}

// forgetParams frees the memory in which programs were shown the parameters of a
// node.
func forgetParams(n *graph.Node) {
	freeView(n)
	if nest, ok := n.Params().(graph.Nest); ok {
		for _, b := range nest.Bodies() {
			forgetGraph(b)
		}
	}
}

// edit is call for a function that changes a graph. It takes time in the current
// context, if there is one.
func edit(body func(*thread) error) C.CUresult {
	return call(func(t *thread) error {
		if c, err := t.context(); err == nil {
			if err := c.sim.EditGraph(); err != nil {
				return err
			}
		}
		return body(t)
	})
}

//export sim_cuGraphCreate
func sim_cuGraphCreate(out *C.CUgraph, flags C.uint) C.CUresult {
	return edit(func(*thread) error {
		if out == nil || flags != 0 {
			return invalidValue
		}
		graphHandle(graph.New()).put(unsafe.Pointer(out))
		return nil
	})
}

// Instances of the graph remain valid.
//
//export sim_cuGraphDestroy
func sim_cuGraphDestroy(h C.CUgraph) C.CUresult {
	return edit(func(*thread) error {
		g, err := graphOf(h)
		if err != nil {
			return err
		}
		if g.Owner() != nil {
			return invalidValue // a child graph belongs to its node, and is destroyed with the node's graph
		}
		forgetGraph(g)
		return nil
	})
}

// sim_cuGraphClone refuses graphs with conditional nodes or memory nodes.
//
//export sim_cuGraphClone
func sim_cuGraphClone(out *C.CUgraph, original C.CUgraph) C.CUresult {
	return edit(func(*thread) error {
		if out == nil {
			return invalidValue
		}
		g, err := graphOf(original)
		if err != nil {
			return err
		}
		if !copies(g) {
			return invalidValue
		}
		graphHandle(cloneGraph(g)).put(unsafe.Pointer(out))
		return nil
	})
}

// sim_cuGraphNodeFindInClone finds the copy of a node in a clone, also in child graphs of the clone. The original may
// have been removed since.
//
//export sim_cuGraphNodeFindInClone
func sim_cuGraphNodeFindInClone(out *C.CUgraphNode, original C.CUgraphNode, clone C.CUgraph) C.CUresult {
	return call(func(*thread) error {
		if out == nil {
			return invalidValue
		}
		n, err := nodeOf(original)
		if err != nil {
			return err
		}
		g, err := graphOf(clone)
		if err != nil {
			return err
		}
		twin := g.Twin(n)
		if twin == nil {
			return invalidValue
		}
		nodeHandle(twin).put(unsafe.Pointer(out))
		return nil
	})
}
