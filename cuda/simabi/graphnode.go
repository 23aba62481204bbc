//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Every kind of node has a function that converts C parameters: a params. Three calls use it:
//
//	cuGraphAdd…Node            addNode      make(t, nil) ─► admits ─► keep ─► Graph.Add ─► announce
//	cuGraph…NodeSetParams      setNode      make(t, old) ─► keep ─► SetParams
//	cuGraphExec…NodeSetParams  setExecNode  make(t, old) ─► Becomes and device check ─► sim.UpdateNode…
//
// Parameters are immutable. They contain copies of all memory of the caller (the arguments of a kernel, child
// graphs), so that the caller may free it after the call. Conversion includes the checks of the device, so that a
// graph never contains a node that the device would refuse.

// nodeParams is a graph.Params that a device can run.
type nodeParams interface {
	graph.Params
	// home returns the context that it runs in, or nil if it may run in any.
	home() *context
	// lower returns the node for the context's device.
	lower() (sim.GraphNode, error)
}

// check returns the device's objection to a node, before a graph contains it.
func check(p nodeParams) error {
	n, err := p.lower()
	if err != nil || n.Work == nil {
		return err
	}
	if p.home().destroyed {
		return status(C.CUDA_ERROR_CONTEXT_IS_DESTROYED)
	}
	return p.home().sim.Check(n.Work)
}

// emptyNode is a graph.Empty that a device can run.
type emptyNode struct{ graph.Empty }

func (emptyNode) home() *context                { return nil }
func (emptyNode) lower() (sim.GraphNode, error) { return sim.GraphNode{Work: nothing}, nil }

// nodesAt returns the nodes in a C array.
func nodesAt(p *C.CUgraphNode, n C.size_t) ([]*graph.Node, error) {
	list, err := listAt((*handle)(unsafe.Pointer(p)), n)
	if err != nil {
		return nil, err
	}
	var nodes []*graph.Node
	for _, h := range list {
		node, err := nodeNamed(h)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// params converts the arguments of a call to the parameters of a node. old is the
// node's current parameters, nil for a new node.
type params func(t *thread, old graph.Params) (graph.Params, error)

// refuse returns a params that fails.
func refuse(err error) params {
	return func(*thread, graph.Params) (graph.Params, error) { return nil, err }
}

// announcer is implemented by parameters that return more to the caller than the
// node.
type announcer interface{ announce(n *graph.Node) }

// addNode adds a node to a graph and stores its handle.
func addNode(out *C.CUgraphNode, h C.CUgraph, deps *C.CUgraphNode, n C.size_t, make params) C.CUresult {
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
		p, err := make(t, nil)
		if err != nil {
			return err
		}
		if err := admits(g, p); err != nil {
			return err
		}
		node, err := g.Add(keep(p), before...)
		if err != nil {
			return err
		}
		if a, ok := p.(announcer); ok {
			a.announce(node)
		}
		nodeHandle(node).put(unsafe.Pointer(out))
		return nil
	})
}

// setNode replaces the parameters of a node of the given kind.
func setNode(h C.CUgraphNode, kind graph.Kind, make params) C.CUresult {
	return edit(func(t *thread) error {
		n, err := nodeOf(h)
		if err != nil {
			return err
		}
		if n.Params().Kind() != kind {
			return invalidValue
		}
		p, err := make(t, n.Params())
		if err != nil {
			return err
		}
		p = keep(p) // before the objects that it copies can be destroyed
		forgetParams(n)
		n.SetParams(p)
		return nil
	})
}

// getNode passes the parameters of a node, of kind P, to body.
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

func emptyParams(*thread, graph.Params) (graph.Params, error) { return emptyNode{}, nil }

//export sim_cuGraphAddEmptyNode
func sim_cuGraphAddEmptyNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t) C.CUresult {
	return addNode(out, g, deps, n, emptyParams)
}

// sim_cuGraphDestroyNode removes a node and its edges. Graphs with memory nodes cannot lose a node.
//
//export sim_cuGraphDestroyNode
func sim_cuGraphDestroyNode(h C.CUgraphNode) C.CUresult {
	return edit(func(*thread) error {
		n, err := nodeOf(h)
		if err != nil {
			return err
		}
		if hasMemoryNodes(n.Graph()) {
			return invalidValue
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
