//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/device"
)

// A condition is created for a graph, set by kernels of the graph or of its bodies, and read by conditional nodes:
//
//	cuGraphConditionalHandleCreate(graph, initial) ─► handle ─► argument of a kernel, which calls
//	                                                       │    cudaGraphSetConditional(handle, value)
//	                                                       └──► parameters of a conditional node
//
//	If      runs body 0 once if the value is not 0, else body 1 if there is one
//	While   runs body 0 until the value is 0 before a run
//	Switch  runs the body whose number is the value, or none
//
// With CU_GRAPH_COND_ASSIGN_DEFAULT a launch begins with the initial value, otherwise with the last value.

// condition is a variable that kernels set and conditional nodes read. It belongs
// to a graph and is destroyed with it. The handle is that of the device.
type condition struct {
	graph   *graph.Graph
	context *context
	handle  device.Condition
}

// conditions holds the live conditions by handle.
var conditions = conditionTable{}

type conditionTable map[device.Condition]*condition

func (t conditionTable) forget(c *context) {
	for h, v := range t {
		if v.context == c {
			delete(t, h)
		}
	}
}

// sim_cuGraphConditionalHandleCreate creates a condition on the device of a context, the current one for NULL. The
// handle is valid until the graph is destroyed.
//
//export sim_cuGraphConditionalHandleCreate
func sim_cuGraphConditionalHandleCreate(out *C.CUgraphConditionalHandle, h C.CUgraph, ctx C.CUcontext, initial, flags C.uint) C.CUresult {
	return call(func(t *thread) error {
		if out == nil || flags&^C.CU_GRAPH_COND_ASSIGN_DEFAULT != 0 {
			return invalidValue
		}
		g, err := graphOf(h)
		if err != nil {
			return err
		}
		c, err := t.orCurrent(ctx)
		if err != nil {
			return err
		}
		made, err := c.sim.NewCondition(uint32(initial), flags != 0)
		if err != nil {
			return err
		}
		conditions[made] = &condition{g, c, made}
		*out = C.CUgraphConditionalHandle(made)
		return nil
	})
}

// forgetConditions removes the conditions of a graph that is destroyed.
func forgetConditions(g *graph.Graph) {
	for h, c := range conditions {
		if c.graph != g {
			continue
		}
		delete(conditions, h)
		if err := c.context.sim.DropCondition(h); err != nil {
			explain(err)
		}
	}
}

// unusedCondition reports whether a graph, or one nested in it, has a condition
// that no node reads.
func unusedCondition(g *graph.Graph) bool {
	used := map[*condition]bool{}
	readIn(g, used)
	for _, c := range conditions {
		if within(c.graph, g) && !used[c] {
			return true
		}
	}
	return false
}

// readIn adds the conditions that nodes of a graph read, at any depth.
func readIn(g *graph.Graph, used map[*condition]bool) {
	for _, n := range g.Nodes() {
		if c, ok := n.Params().(*conditionalNode); ok {
			used[c.condition] = true
		}
		if nest, ok := n.Params().(graph.Nest); ok {
			for _, b := range nest.Bodies() {
				readIn(b, used)
			}
		}
	}
}

// within reports whether g is the graph outer or is nested in it, at any depth.
func within(g, outer *graph.Graph) bool {
	for ; g != outer; g = g.Owner().Graph() {
		if g.Owner() == nil {
			return false
		}
	}
	return true
}
