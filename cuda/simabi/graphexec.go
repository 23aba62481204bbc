//go:build cuda && cgo

package simabi

/*
#include <cuda.h>
*/
import "C"

import (
	"slices"
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

var (
	graphExecs handles[*graphExec]
	nothing    = device.Nothing{}
)

// instantiate proceeds in these steps. Each may fail with a refusal, which contains the code, the result for
// cuGraphInstantiateWithParams, and the node that causes it:
//
//  1. Check the flags. Launches from the device are not simulated.
//  2. Flatten the graph in O(nodes + edges): child graphs are expanded, and dependencies come first. A cycle is an error.
//  3. Check that a graph with memory nodes has no other instance, that the graph is not the body of a conditional node,
//     and that a node reads each condition.
//  4. Lower each step to a sim.GraphNode. Bodies of conditional nodes are flattened and lowered recursively. The first
//     node with a context determines the context of the instance. Nodes of a body must be in one context.
//  5. Instantiate the nodes on the device of that context.
//  6. Clone the graph, as the snapshot for changes. layOut numbers its nodes as in step 2.

// graphExec is an instance of a graph: a snapshot with a map from the original's
// nodes, and the device's instance.
type graphExec struct {
	handle  handle
	context *context
	graph   *graph.Graph
	sim     device.GraphExec
	flags   C.ulonglong
	of      *graph.Graph // the graph whose only instance it is, or nil
	lives   []life       // the contexts of its nodes
}

func (x *graphExec) owner() *context { return x.context }

const (
	autoFree        = C.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
	uploadFlag      = C.CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD
	deviceLaunch    = C.CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
	useNodePriority = C.CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
)

// refusal is the reason why a graph cannot be instantiated.
type refusal struct {
	error
	result C.CUgraphInstantiateResult
	node   *graph.Node // the node that causes it, or nil
}

func (r *refusal) Unwrap() error { return r.error }

// instantiate creates an instance of a graph. Its error is a *refusal.
func (t *thread) instantiate(g *graph.Graph, flags C.ulonglong) (*graphExec, error) {
	switch {
	case flags&^(autoFree|uploadFlag|deviceLaunch|useNodePriority) != 0:
		return nil, &refusal{invalidValue, C.CUDA_GRAPH_INSTANTIATE_ERROR, nil}
	case flags&deviceLaunch != 0:
		return nil, &refusal{notSupported, C.CUDA_GRAPH_INSTANTIATE_ERROR, nil}
	}
	steps, cycle := g.Flatten()
	if cycle != nil {
		return nil, &refusal{invalidValue, C.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, cycle}
	}
	if instantiated(g) || isBody(g) {
		return nil, &refusal{invalidValue, C.CUDA_GRAPH_INSTANTIATE_ERROR, nil}
	}
	if unusedCondition(g) {
		return nil, &refusal{invalidValue, C.CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, nil}
	}
	x := &graphExec{flags: flags}
	nodes, err := x.lower(steps, nil)
	if err != nil {
		return nil, err
	}
	if x.context == nil {
		if x.context, err = t.context(); err != nil {
			return nil, &refusal{err, C.CUDA_GRAPH_INSTANTIATE_ERROR, nil}
		}
	}
	if x.sim, err = x.context.sim.InstantiateNodes(nodes); err != nil {
		return nil, &refusal{err, C.CUDA_GRAPH_INSTANTIATE_ERROR, nil}
	}
	if flags&autoFree != 0 {
		if err := x.context.sim.FreeOnLaunch(x.sim); err != nil {
			return nil, &refusal{err, C.CUDA_GRAPH_INSTANTIATE_ERROR, nil}
		}
	}
	x.graph = cloneGraph(g)
	layOut(x.graph)
	x.handle = graphExecs.add(x)
	x.claim(g)
	return x, nil
}

// lower returns the device's nodes for a graph or for a body of a conditional node.
// The instance belongs to the context of the first node that has one.
func (x *graphExec) lower(steps []graph.Step, body *conditionalNode) ([]sim.GraphNode, error) {
	nodes := make([]sim.GraphNode, len(steps))
	for i, s := range steps {
		if s.Node == nil {
			nodes[i] = sim.GraphNode{Join: true, Deps: s.Deps}
			continue
		}
		n, err := x.lowerNode(s.Node, body)
		if err != nil {
			return nil, err
		}
		nodes[i] = n
		nodes[i].Deps = s.Deps
	}
	return nodes, nil
}

// lowerNode returns the device's node for a node of a graph, without dependencies.
func (x *graphExec) lowerNode(node *graph.Node, body *conditionalNode) (sim.GraphNode, error) {
	p, ok := node.Params().(nodeParams)
	if !ok {
		return sim.GraphNode{}, &refusal{notSupported, C.CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, node}
	}
	home := p.home()
	if home != nil {
		switch {
		case home.destroyed:
			return sim.GraphNode{}, &refusal{status(C.CUDA_ERROR_CONTEXT_IS_DESTROYED), C.CUDA_GRAPH_INSTANTIATE_ERROR, node}
		case x.context == nil:
			x.context = home
		case body != nil && body.home() != home:
			return sim.GraphNode{}, &refusal{notSupported, C.CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED, node}
		}
	}
	n, err := p.lower()
	if err != nil {
		return n, &refusal{err, C.CUDA_GRAPH_INSTANTIATE_ERROR, node}
	}
	if home != nil {
		n.On = home.sim
		x.involve(home)
	}
	if c, ok := p.(*conditionalNode); ok {
		if n.Conditional.Bodies, err = x.lowerBodies(c); err != nil {
			return n, err
		}
	}
	if x.flags&useNodePriority == 0 {
		n.Priority = nil
	}
	return n, nil
}

// life identifies one activation of a context. A primary context may have several.
type life struct {
	context *context
	id      uint64
}

// involve records that nodes belong to a context.
func (x *graphExec) involve(c *context) {
	if l := (life{c, c.id}); !slices.Contains(x.lives, l) {
		x.lives = append(x.lives, l)
	}
}

// alive returns an error if a context of the instance's nodes was destroyed.
func (x *graphExec) alive() error {
	for _, l := range x.lives {
		if l.context.destroyed || l.context.id != l.id {
			return status(C.CUDA_ERROR_CONTEXT_IS_DESTROYED)
		}
	}
	return nil
}

// execOf returns the instance of a handle.
func execOf(h C.CUgraphExec) (*graphExec, error) {
	x, err := graphExecs.get(of(unsafe.Pointer(h)))
	if err != nil {
		return nil, invalidValue
	}
	return x, nil
}

// node returns the instance's node for a node of the original graph.
func (x *graphExec) node(h C.CUgraphNode) (*graph.Node, error) {
	n, err := nodeOf(h)
	if err != nil {
		return nil, err
	}
	twin := x.graph.Twin(n)
	if twin == nil {
		return nil, invalidValue
	}
	return twin, nil
}

// simNode returns the device's name for a node.
func simNode(n *graph.Node) sim.NodeAt {
	at := sim.NodeAt{Node: device.Node(n.Step() + 1)}
	for g := n.Graph(); g.Owner() != nil; g = g.Owner().Graph() {
		owner := g.Owner()
		if c, ok := owner.Params().(*conditionalNode); ok { // a child graph takes the position of its node
			in := sim.BodyAt{Node: device.Node(owner.Step() + 1), Body: slices.Index(c.graphs, g)}
			at.In = append([]sim.BodyAt{in}, at.In...)
		}
	}
	return at
}

// update replaces the work of a node of the instance.
func (x *graphExec) update(n *graph.Node, p nodeParams) error {
	w, err := p.lower()
	switch {
	case err != nil:
		return err
	case w.Alloc != 0 || w.Free != 0: // unchanged, see Becomes
	case w.Conditional != nil:
		err = x.context.sim.UpdateCondition(x.sim, simNode(n), w.Conditional.Condition)
	case w.Work == nil:
		err = x.context.sim.UpdateNodeEvent(x.sim, simNode(n).Node, w.Record+w.Wait)
	default:
		err = x.context.sim.UpdateNodeAt(x.sim, simNode(n), w.Work)
	}
	if err == nil {
		if c, ok := p.(*conditionalNode); ok {
			p = c.over(n.Params().(*conditionalNode).graphs)
		}
		n.SetParams(p)
	}
	return err
}

// sim_cuGraphLaunch enqueues an instance in a stream of any context. In a captured stream, the instance becomes a child
// node with a copy of its graph. Launches of one instance do not overlap.
//
//export sim_cuGraphLaunch
func sim_cuGraphLaunch(h C.CUgraphExec, st C.CUstream) C.CUresult {
	return onNamed(func(*thread) error {
		x, err := execOf(h)
		if err != nil {
			return err
		}
		s, err := useStream(st)
		if err != nil {
			return err
		}
		if s.capture.Capturing() {
			return s.add(graph.Child{Graph: x.graph.Clone()})
		}
		if err := x.alive(); err != nil {
			return err
		}
		return x.context.sim.LaunchGraphInto(x.sim, s.context.sim, s.sim)
	})
}

// upload prepares the device for launches. Profiles do not contain the additional
// cost of a first launch, so it is only a position in the stream.
func upload(st C.CUstream) error {
	s, err := useStream(st)
	if err != nil {
		return err
	}
	return s.submit(nothing)
}

//export sim_cuGraphUpload
func sim_cuGraphUpload(h C.CUgraphExec, st C.CUstream) C.CUresult {
	return onNamed(func(*thread) error {
		if _, err := execOf(h); err != nil {
			return err
		}
		return upload(st)
	})
}

//export sim_cuGraphExecGetFlags
func sim_cuGraphExecGetFlags(h C.CUgraphExec, flags *C.cuuint64_t) C.CUresult {
	return call(func(*thread) error {
		x, err := execOf(h)
		if err != nil {
			return err
		}
		if flags == nil {
			return invalidValue
		}
		*flags = C.cuuint64_t(x.flags)
		return nil
	})
}

// sim_cuGraphExecDestroy invalidates the handle at once. Launches in progress continue, and user objects of the
// instance are released after them.
//
//export sim_cuGraphExecDestroy
func sim_cuGraphExecDestroy(h C.CUgraphExec) C.CUresult {
	return call(func(*thread) error {
		x, err := execOf(h)
		if err != nil {
			return err
		}
		_, _ = graphExecs.remove(x.handle)
		x.disclaim()
		if len(graphRefs) == 0 {
			return x.context.sim.DestroyGraphExec(x.sim)
		}
		return x.context.sim.DestroyGraphExecThen(x.sim, func() { forgetGraph(x.graph) })
	})
}
