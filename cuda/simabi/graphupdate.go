//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
)

// An instance can be changed in two ways, as a whole (cuGraphExecUpdate) or node by node (cuGraphExec…NodeSetParams
// and cuGraphNodeSetEnabled). Neither adds nor removes nodes or edges. Both are atomic: all checks precede the first
// change. Launches that were enqueued before keep the old work.
//
// cuGraphExecUpdate first pairs the nodes of both graphs (graph.Match): sinks in their order, then the dependencies
// of paired nodes in the order of their edges. It fails if the topology or the kind of a node differs. Then both ways
// apply the same rules to a pair of old and new parameters (Becomes):
//
//	kind           may change                                   must stay equal
//	kernel         function, shape, arguments                   context, cooperative; with useNodePriority the priority
//	memcpy         addresses; extents                           kinds of memory and contexts of both sides, context
//	memset         address, value; extents of a single row      element size and extents of several rows, context
//	host           function, data
//	event          event                                        context of the event
//	batch mem op   addresses, values, comparisons               number and types of operations, context
//	alloc, free    nothing                                      memory
//	conditional    condition                                    kind, number of bodies, context; bodies are matched
//	child          nothing                                      the graph; its nodes are matched
//
// Node by node, a copy can be changed only if it is a single row before and after.

const updateFailure = status(C.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)

// match pairs the nodes of a part of the instance with those of a graph whose work
// it shall do.
func (x *graphExec) match(part, g *graph.Graph) ([]graph.Pair, *graph.Mismatch) {
	pairs, bad := graph.Match(part, g)
	if bad != nil {
		return nil, bad
	}
	for _, p := range pairs {
		if why := x.allows(p); why != graph.Same {
			return nil, &graph.Mismatch{Reason: why, Node: p.New}
		}
	}
	return pairs, nil
}

// allows checks the rules that depend on the instance's flags and on the device.
func (x *graphExec) allows(p graph.Pair) graph.Reason {
	if was, ok := p.Old.Params().(*kernelNode); ok && x.flags&useNodePriority != 0 {
		old, had := was.attributes.priority()
		now, has := p.New.Params().(*kernelNode).attributes.priority()
		if old != now || had != has {
			return graph.AttributesChanged
		}
	}
	is, ok := p.New.Params().(nodeParams)
	if !ok {
		return graph.Same // their nodes are compared separately
	}
	n, err := is.lower()
	if err == nil && n.Work != nil {
		err = x.context.sim.Check(n.Work)
	}
	if err != nil {
		explain(err)
		return graph.ParametersChanged
	}
	return graph.Same
}

// take replaces the work of the old node of each pair by that of the new one, which
// has been checked. It costs as much as setting each node.
func (x *graphExec) take(pairs []graph.Pair) error {
	for _, p := range pairs {
		if is, ok := p.New.Params().(nodeParams); ok {
			if err := x.update(p.Old, is); err != nil {
				return err
			}
		}
	}
	return nil
}

// updateFrom is cuGraphExecUpdate.
func updateFrom(hx C.CUgraphExec, hg C.CUgraph) (*graph.Mismatch, error) {
	other := &graph.Mismatch{Reason: graph.OtherError}
	x, err := execOf(hx)
	if err != nil {
		return other, err
	}
	g, err := graphOf(hg)
	if err != nil {
		return other, err
	}
	pairs, bad := x.match(x.graph, g)
	if bad != nil {
		return bad, updateFailure
	}
	if err := x.take(pairs); err != nil {
		return other, err
	}
	return &graph.Mismatch{}, nil
}

//export sim_cuGraphExecUpdate
func sim_cuGraphExecUpdate(x C.CUgraphExec, g C.CUgraph, node *C.CUgraphNode, reason *C.CUgraphExecUpdateResult) C.CUresult {
	return call(func(*thread) error {
		if node == nil || reason == nil {
			return invalidValue
		}
		m, err := updateFrom(x, g)
		*reason = C.CUgraphExecUpdateResult(m.Reason)
		nodeHandle(m.Node).put(unsafe.Pointer(node))
		return err
	})
}

// sim_cuGraphExecUpdate_v2 stores the reason of a failure, the node of the new graph and, if an edge differs, the
// node at its start.
//
//export sim_cuGraphExecUpdate_v2
func sim_cuGraphExecUpdate_v2(x C.CUgraphExec, g C.CUgraph, info *C.CUgraphExecUpdateResultInfo) C.CUresult {
	return call(func(*thread) error {
		if info == nil {
			return invalidValue
		}
		m, err := updateFrom(x, g)
		info.result = C.CUgraphExecUpdateResult(m.Reason)
		nodeHandle(m.Node).put(unsafe.Pointer(&info.errorNode))
		nodeHandle(m.From).put(unsafe.Pointer(&info.errorFromNode))
		return err
	})
}

// setExecNode is setNode for a node of an instance.
func setExecNode(hx C.CUgraphExec, hn C.CUgraphNode, kind graph.Kind, make params) C.CUresult {
	return call(func(t *thread) error {
		x, err := execOf(hx)
		if err != nil {
			return err
		}
		n, err := x.node(hn)
		if err != nil {
			return err
		}
		old := n.Params()
		if old.Kind() != kind {
			return invalidValue
		}
		p, err := make(t, old)
		if err != nil {
			return err
		}
		if old.Becomes(p) != graph.Same {
			return invalidValue
		}
		return x.set(n, p)
	})
}

// set replaces the work of a node, if all parts of it can be replaced.
func (x *graphExec) set(n *graph.Node, p graph.Params) error {
	if child, ok := p.(graph.Child); ok {
		pairs, bad := x.match(n.Params().(graph.Child).Graph, child.Graph)
		if bad != nil {
			return invalidValue
		}
		return x.take(pairs)
	}
	return x.update(n, p.(nodeParams))
}

// Nodes of these kinds can be disabled in an instance.
func canDisable(k graph.Kind) bool {
	return k == graph.KernelNode || k == graph.MemcpyNode || k == graph.MemsetNode
}

func withExecNode(hx C.CUgraphExec, hn C.CUgraphNode, body func(*graphExec, *graph.Node) error) C.CUresult {
	return call(func(*thread) error {
		x, err := execOf(hx)
		if err != nil {
			return err
		}
		n, err := x.node(hn)
		if err != nil {
			return err
		}
		if !canDisable(n.Params().Kind()) {
			return invalidValue
		}
		return body(x, n)
	})
}

// sim_cuGraphNodeSetEnabled switches a kernel, copy or memset of an instance on or off. A disabled node does nothing,
// but still orders its predecessors and successors.
//
//export sim_cuGraphNodeSetEnabled
func sim_cuGraphNodeSetEnabled(hx C.CUgraphExec, hn C.CUgraphNode, on C.uint) C.CUresult {
	return withExecNode(hx, hn, func(x *graphExec, n *graph.Node) error {
		return x.context.sim.EnableNode(x.sim, simNode(n), on != 0)
	})
}

//export sim_cuGraphNodeGetEnabled
func sim_cuGraphNodeGetEnabled(hx C.CUgraphExec, hn C.CUgraphNode, on *C.uint) C.CUresult {
	return withExecNode(hx, hn, func(x *graphExec, n *graph.Node) error {
		if on == nil {
			return invalidValue
		}
		enabled, err := x.context.sim.NodeEnabled(x.sim, simNode(n))
		*on = 0
		if enabled {
			*on = 1
		}
		return err
	})
}
