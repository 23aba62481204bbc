//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// recordNode records an event, and waitNode waits for the last record of one.
type (
	recordNode struct{ event *event }
	waitNode   struct{ event *event }
)

func (recordNode) Kind() graph.Kind { return graph.EventRecordNode }
func (waitNode) Kind() graph.Kind   { return graph.WaitEventNode }

func (n recordNode) home() *context { return n.event.context }
func (n waitNode) home() *context   { return n.event.context }

func (n recordNode) Becomes(next graph.Params) graph.Reason {
	return n.event.becomes(next.(recordNode).event)
}
func (n waitNode) Becomes(next graph.Params) graph.Reason {
	return n.event.becomes(next.(waitNode).event)
}

// becomes permits another event of the same context.
func (e *event) becomes(next *event) graph.Reason {
	if e.context != next.context {
		return graph.ParametersChanged
	}
	return graph.Same
}

func (n recordNode) lower() (sim.GraphNode, error) { return sim.GraphNode{Record: n.event.sim}, nil }
func (n waitNode) lower() (sim.GraphNode, error)   { return sim.GraphNode{Wait: n.event.sim}, nil }

func recordParams(e C.CUevent) params {
	return func(*thread, graph.Params) (graph.Params, error) {
		v, err := eventOf(e)
		return recordNode{v}, err
	}
}

func waitParams(e C.CUevent) params {
	return func(*thread, graph.Params) (graph.Params, error) {
		v, err := eventOf(e)
		return waitNode{v}, err
	}
}

//export sim_cuGraphAddEventRecordNode
func sim_cuGraphAddEventRecordNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t, e C.CUevent) C.CUresult {
	return addNode(out, g, deps, n, recordParams(e))
}

//export sim_cuGraphEventRecordNodeGetEvent
func sim_cuGraphEventRecordNodeGetEvent(h C.CUgraphNode, out *C.CUevent) C.CUresult {
	return getNode(h, unsafe.Pointer(out), func(_ *graph.Node, p recordNode) error {
		p.event.handle.put(unsafe.Pointer(out))
		return nil
	})
}

//export sim_cuGraphEventRecordNodeSetEvent
func sim_cuGraphEventRecordNodeSetEvent(h C.CUgraphNode, e C.CUevent) C.CUresult {
	return setNode(h, graph.EventRecordNode, recordParams(e))
}

//export sim_cuGraphExecEventRecordNodeSetEvent
func sim_cuGraphExecEventRecordNodeSetEvent(x C.CUgraphExec, h C.CUgraphNode, e C.CUevent) C.CUresult {
	return setExecNode(x, h, graph.EventRecordNode, recordParams(e))
}

//export sim_cuGraphAddEventWaitNode
func sim_cuGraphAddEventWaitNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t, e C.CUevent) C.CUresult {
	return addNode(out, g, deps, n, waitParams(e))
}

//export sim_cuGraphEventWaitNodeGetEvent
func sim_cuGraphEventWaitNodeGetEvent(h C.CUgraphNode, out *C.CUevent) C.CUresult {
	return getNode(h, unsafe.Pointer(out), func(_ *graph.Node, p waitNode) error {
		p.event.handle.put(unsafe.Pointer(out))
		return nil
	})
}

//export sim_cuGraphEventWaitNodeSetEvent
func sim_cuGraphEventWaitNodeSetEvent(h C.CUgraphNode, e C.CUevent) C.CUresult {
	return setNode(h, graph.WaitEventNode, waitParams(e))
}

//export sim_cuGraphExecEventWaitNodeSetEvent
func sim_cuGraphExecEventWaitNodeSetEvent(x C.CUgraphExec, h C.CUgraphNode, e C.CUevent) C.CUresult {
	return setExecNode(x, h, graph.WaitEventNode, waitParams(e))
}
