//go:build cuda

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/graph"
	"github.com/reprise-gpu/reprise/sim"
)

// nodeParams is a graph.Params that a device can run.
type nodeParams interface {
	graph.Params
	// home is the context that it runs in, nil when any will do.
	home() *context
	// lower is what the context's device is given.
	lower() (sim.GraphNode, error)
}

// emptyNode is a graph.Empty that a device can run.
type emptyNode struct{ graph.Empty }

func (emptyNode) home() *context                { return nil }
func (emptyNode) lower() (sim.GraphNode, error) { return sim.GraphNode{Work: nothing}, nil }

// nodesAt is the nodes in an array of C's.
func nodesAt(p *C.CUgraphNode, n C.size_t) ([]*graph.Node, error) {
	if n == 0 {
		return nil, nil
	}
	if p == nil {
		return nil, invalidValue
	}
	nodes := make([]*graph.Node, n)
	for i, h := range unsafe.Slice((*handle)(unsafe.Pointer(p)), n) {
		var err error
		if nodes[i], err = nodeNamed(h); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// addNode adds a node that does what params returns, which need not be asked when
// other arguments are wrong.
func addNode(out *C.CUgraphNode, h C.CUgraph, deps *C.CUgraphNode, n C.size_t, params func(*thread) (graph.Params, error)) C.CUresult {
	return edit(func(t *thread) error {
		if out == nil {
			return invalidValue
		}
		g, err := graphOf(h)
		if err != nil {
			return err
		}
		before, err := nodesAt(deps, n)
		if err != nil {
			return err
		}
		p, err := params(t)
		if err != nil {
			return err
		}
		node, err := g.Add(p, before...)
		if err != nil {
			return err
		}
		nodeHandle(node).put(unsafe.Pointer(out))
		return nil
	})
}

// setNode has a node do something else of the kind it is for.
func setNode(h C.CUgraphNode, kind graph.Kind, params func(*thread, graph.Params) (graph.Params, error)) C.CUresult {
	return edit(func(t *thread) error {
		n, err := nodeOf(h)
		if err != nil {
			return err
		}
		if n.Params().Kind() != kind {
			return invalidValue
		}
		p, err := params(t, n.Params())
		if err != nil {
			return err
		}
		freeView(n)
		n.SetParams(p)
		return nil
	})
}

// getNode tells what a node does that is of kind P.
func getNode[P graph.Params](h C.CUgraphNode, out unsafe.Pointer, body func(*graph.Node, P) error) C.CUresult {
	return call(func(*thread) error {
		n, err := nodeOf(h)
		if err != nil {
			return err
		}
		p, ok := n.Params().(P)
		if !ok || out == nil {
			return invalidValue
		}
		return body(n, p)
	})
}

//export sim_cuGraphAddEmptyNode
func sim_cuGraphAddEmptyNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t) C.CUresult {
	return addNode(out, g, deps, n, func(*thread) (graph.Params, error) { return emptyNode{}, nil })
}

// The node has a copy of the graph.
//
//export sim_cuGraphAddChildGraphNode
func sim_cuGraphAddChildGraphNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t, child C.CUgraph) C.CUresult {
	return addNode(out, g, deps, n, func(*thread) (graph.Params, error) {
		c, err := graphOf(child)
		if err != nil {
			return nil, err
		}
		return graph.Child{Graph: c.Clone()}, nil
	})
}

//export sim_cuGraphChildGraphNodeGetGraph
func sim_cuGraphChildGraphNodeGetGraph(h C.CUgraphNode, out *C.CUgraph) C.CUresult {
	return getNode(h, unsafe.Pointer(out), func(_ *graph.Node, p graph.Child) error {
		graphHandle(p.Graph).put(unsafe.Pointer(out))
		return nil
	})
}

//export sim_cuGraphDestroyNode
func sim_cuGraphDestroyNode(h C.CUgraphNode) C.CUresult {
	return edit(func(*thread) error {
		n, err := nodeOf(h)
		if err != nil {
			return err
		}
		forgetNode(n)
		n.Graph().Remove(n)
		return nil
	})
}

//export sim_cuGraphNodeGetType
func sim_cuGraphNodeGetType(h C.CUgraphNode, kind *C.CUgraphNodeType) C.CUresult {
	return call(func(*thread) error {
		n, err := nodeOf(h)
		if err != nil {
			return err
		}
		if kind == nil {
			return invalidValue
		}
		*kind = C.CUgraphNodeType(n.Params().Kind())
		return nil
	})
}
