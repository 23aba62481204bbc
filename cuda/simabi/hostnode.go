//go:build cuda && cgo

package simabi

// #include "hostthread.h"
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// hostNode calls a function of C's.
type hostNode struct{ params C.CUDA_HOST_NODE_PARAMS_v1 }

func (h *hostNode) Kind() graph.Kind                  { return graph.HostNode }
func (h *hostNode) Becomes(graph.Params) graph.Reason { return graph.Same }
func (h *hostNode) home() *context                    { return nil }

func (h *hostNode) lower() (sim.GraphNode, error) {
	p := h.params
	return sim.GraphNode{Work: &device.HostCall{Func: func() error { C.simabi_call_host(p.fn, p.userData); return nil }}}, nil
}

func hostParams(p *C.CUDA_HOST_NODE_PARAMS_v1) params {
	return func(*thread, graph.Params) (graph.Params, error) {
		if p == nil || p.fn == nil {
			return nil, invalidValue
		}
		return &hostNode{*p}, nil
	}
}

//export sim_cuGraphAddHostNode
func sim_cuGraphAddHostNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t, p *C.CUDA_HOST_NODE_PARAMS_v1) C.CUresult {
	return addNode(out, g, deps, n, hostParams(p))
}

//export sim_cuGraphHostNodeGetParams
func sim_cuGraphHostNodeGetParams(h C.CUgraphNode, out *C.CUDA_HOST_NODE_PARAMS_v1) C.CUresult {
	return getNode(h, unsafe.Pointer(out), func(_ *graph.Node, p *hostNode) error {
		*out = p.params
		return nil
	})
}

//export sim_cuGraphHostNodeSetParams
func sim_cuGraphHostNodeSetParams(h C.CUgraphNode, p *C.CUDA_HOST_NODE_PARAMS_v1) C.CUresult {
	return setNode(h, graph.HostNode, hostParams(p))
}

//export sim_cuGraphExecHostNodeSetParams
func sim_cuGraphExecHostNodeSetParams(x C.CUgraphExec, n C.CUgraphNode, p *C.CUDA_HOST_NODE_PARAMS_v1) C.CUresult {
	return setExecNode(x, n, graph.HostNode, hostParams(p))
}
