//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
)

// keep returns the parameters that a node stores for p. A child graph is copied.
func keep(p graph.Params) graph.Params {
	if c, ok := p.(graph.Child); ok {
		return graph.Child{Graph: cloneGraph(c.Graph)}
	}
	return p
}

// childParams returns the parameters of a node with the contents of a graph.
func childParams(child C.CUgraph) params {
	return func(*thread, graph.Params) (graph.Params, error) {
		c, err := graphOf(child)
		if err == nil && !copies(c) {
			err = invalidValue
		}
		return graph.Child{Graph: c}, err
	}
}

//export sim_cuGraphAddChildGraphNode
func sim_cuGraphAddChildGraphNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t, child C.CUgraph) C.CUresult {
	return addNode(out, g, deps, n, childParams(child))
}

// The graph belongs to the node, and may be edited.
//
//export sim_cuGraphChildGraphNodeGetGraph
func sim_cuGraphChildGraphNodeGetGraph(h C.CUgraphNode, out *C.CUgraph) C.CUresult {
	return getNode(h, unsafe.Pointer(out), func(_ *graph.Node, p graph.Child) error {
		graphHandle(p.Graph).put(unsafe.Pointer(out))
		return nil
	})
}

// sim_cuGraphExecChildGraphNodeSetParams replaces the work of all nodes in a child graph, by the rules of
// cuGraphExecUpdate.
//
//export sim_cuGraphExecChildGraphNodeSetParams
func sim_cuGraphExecChildGraphNodeSetParams(x C.CUgraphExec, n C.CUgraphNode, child C.CUgraph) C.CUresult {
	return setExecNode(x, n, graph.ChildNode, childParams(child))
}
