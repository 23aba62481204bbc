//go:build cuda && cgo

package simabi

/*
#include <cuda.h>
#include <stdlib.h>
*/
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// conditionalNode runs one of its graphs once, none of them, or one repeatedly.
type conditionalNode struct {
	condition *condition
	kind      device.ConditionalKind
	graphs    []*graph.Graph
	out       **C.CUgraph // receives the graphs, for the caller
}

func (c *conditionalNode) Kind() graph.Kind       { return graph.ConditionalNode }
func (c *conditionalNode) Bodies() []*graph.Graph { return c.graphs }
func (c *conditionalNode) home() *context         { return c.condition.context }

func (c *conditionalNode) With(bodies []*graph.Graph) graph.Params { return c.over(bodies) }

func (c *conditionalNode) over(bodies []*graph.Graph) *conditionalNode {
	return &conditionalNode{condition: c.condition, kind: c.kind, graphs: bodies}
}

// Becomes permits another condition: that of the graph of the update, whose kernels
// set it.
func (c *conditionalNode) Becomes(next graph.Params) graph.Reason {
	n := next.(*conditionalNode)
	if n.kind != c.kind || len(n.graphs) != len(c.graphs) || n.home() != c.home() {
		return graph.ParametersChanged
	}
	return graph.Same
}

// lower leaves the bodies to lowerBodies.
func (c *conditionalNode) lower() (sim.GraphNode, error) {
	return sim.GraphNode{Conditional: &sim.GraphConditional{Kind: c.kind, Condition: c.condition.handle}}, nil
}

// lowerBodies returns the device's nodes for the bodies of a conditional node.
func (x *graphExec) lowerBodies(c *conditionalNode) (bodies [][]sim.GraphNode, err error) {
	for _, g := range c.graphs {
		steps, cycle := g.Flatten()
		if cycle != nil {
			return nil, &refusal{invalidValue, C.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, cycle}
		}
		body, err := x.lower(steps, c)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, body)
	}
	return bodies, nil
}

// layOut assigns positions to the nodes of a graph without cycles, and to those of its bodies. The positions equal
// those in the device's instance, because Flatten is deterministic and a clone keeps the order of nodes and edges.
func layOut(g *graph.Graph) {
	steps, _ := g.Flatten()
	for _, s := range steps {
		if s.Node == nil {
			continue
		}
		if c, ok := s.Node.Params().(*conditionalNode); ok {
			for _, body := range c.graphs {
				layOut(body)
			}
		}
	}
}

var conditionalKinds = map[C.CUgraphConditionalNodeType]device.ConditionalKind{
	C.CU_GRAPH_COND_TYPE_IF: device.If, C.CU_GRAPH_COND_TYPE_WHILE: device.While, C.CU_GRAPH_COND_TYPE_SWITCH: device.Switch,
}

// conditionalParams returns a node with empty graphs. Its parameters cannot be
// changed.
func conditionalParams(p *C.CUDA_CONDITIONAL_NODE_PARAMS) params {
	return func(t *thread, old graph.Params) (graph.Params, error) {
		if old != nil {
			return nil, notSupported
		}
		kind, known := conditionalKinds[p._type]
		c := conditions[device.Condition(p.handle)]
		if !known || c == nil {
			return nil, invalidValue
		}
		if home, err := t.orCurrent(p.ctx); err != nil || home != c.context {
			return nil, firstError(err, invalidValue)
		}
		check := device.Conditional{Kind: kind, Bodies: int(p.size)}
		if err := contract.CheckConditional(&check); err != nil {
			return nil, err.In("cuGraphAddNode")
		}
		n := &conditionalNode{condition: c, kind: kind, out: &p.phGraph_out}
		for range p.size {
			n.graphs = append(n.graphs, graph.New())
		}
		return n, nil
	}
}

// announce stores the graphs for the caller, in memory that exists as long as the
// node.
func (c *conditionalNode) announce(n *graph.Node) {
	const size = unsafe.Sizeof(C.CUgraph(nil))
	array := C.malloc(C.size_t(len(c.graphs)) * C.size_t(size))
	for i, g := range c.graphs {
		graphHandle(g).put(unsafe.Add(array, i*int(size)))
	}
	views[n] = array
	*c.out, c.out = (*C.CUgraph)(array), nil
}

// admits returns an error if a graph cannot have a node with these parameters. A condition must be one of the graph
// or of a graph around it. Bodies of conditional nodes admit only some kinds of nodes: see inBodies. For memory nodes
// see admitsMemory.
func admits(g *graph.Graph, p graph.Params) error {
	if c, ok := p.(*conditionalNode); ok && !within(g, c.condition.graph) {
		return invalidValue
	}
	if inBody(g) && !inBodies(p) {
		return notSupported
	}
	if k := p.Kind(); k == graph.MemAllocNode || k == graph.MemFreeNode {
		return admitsMemory(g, p)
	}
	return nil
}

// inBody reports whether a graph is a body of a conditional node, or is nested in
// one.
func inBody(g *graph.Graph) bool {
	for ; g.Owner() != nil; g = g.Owner().Graph() {
		if isBody(g) {
			return true
		}
	}
	return false
}

// isBody reports whether a graph is the body of a conditional node.
func isBody(g *graph.Graph) bool {
	return g.Owner() != nil && g.Owner().Params().Kind() == graph.ConditionalNode
}

// inBodies reports whether bodies may have nodes with these parameters.
func inBodies(p graph.Params) bool {
	switch p.Kind() {
	case graph.KernelNode, graph.MemcpyNode, graph.MemsetNode, graph.EmptyNode, graph.ConditionalNode:
		return true
	case graph.ChildNode:
		for _, n := range p.(graph.Child).Graph.Nodes() {
			if !inBodies(n.Params()) {
				return false
			}
		}
		return true
	}
	return false
}

// copies reports whether a graph may be copied. It must not contain conditional
// nodes, or nodes that allocate or free memory.
func copies(g *graph.Graph) bool {
	if hasMemoryNodes(g) {
		return false
	}
	for _, n := range g.Nodes() {
		if n.Params().Kind() == graph.ConditionalNode {
			return false
		}
	}
	return true
}
