//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// memsetNode fills rows of device memory.
type memsetNode struct {
	context *context
	params  C.CUDA_MEMSET_NODE_PARAMS_v1
}

func (m *memsetNode) Kind() graph.Kind { return graph.MemsetNode }
func (m *memsetNode) home() *context   { return m.context }

// Becomes follows the documentation of cuGraphExecUpdate: for a memset of several
// rows, only the address and the value may change.
func (m *memsetNode) Becomes(next graph.Params) graph.Reason {
	n := next.(*memsetNode)
	a, b := m.params, n.params
	a.dst, a.value = b.dst, b.value
	if a.height == 1 && b.height == 1 {
		a = b
	}
	if n.context != m.context || a != b {
		return graph.ParametersChanged
	}
	return graph.Same
}

func (m *memsetNode) lower() (sim.GraphNode, error) {
	f, err := fillOf(&m.params)
	return sim.GraphNode{Work: f}, err
}

// newMemsetNode returns a node that the device has checked. Memsets without elements are refused, as by a driver.
func newMemsetNode(c *context, p *C.CUDA_MEMSET_NODE_PARAMS_v1) (graph.Params, error) {
	if p == nil || p.width == 0 || p.height == 0 {
		return nil, invalidValue
	}
	m := &memsetNode{context: c, params: *p}
	return m, check(m)
}

// memsetParams returns the parameters of a node in a context, the current one for
// NULL.
func memsetParams(p *C.CUDA_MEMSET_NODE_PARAMS_v1, ctx C.CUcontext) params {
	return func(t *thread, old graph.Params) (graph.Params, error) {
		c, err := t.orCurrent(ctx)
		if err != nil {
			return nil, err
		}
		return newMemsetNode(c, p)
	}
}

//export sim_cuGraphAddMemsetNode
func sim_cuGraphAddMemsetNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t, p *C.CUDA_MEMSET_NODE_PARAMS_v1, ctx C.CUcontext) C.CUresult {
	return addNode(out, g, deps, n, memsetParams(p, ctx))
}

//export sim_cuGraphMemsetNodeGetParams
func sim_cuGraphMemsetNodeGetParams(h C.CUgraphNode, out *C.CUDA_MEMSET_NODE_PARAMS_v1) C.CUresult {
	return getNode(h, unsafe.Pointer(out), func(_ *graph.Node, m *memsetNode) error {
		*out = m.params
		return nil
	})
}

//export sim_cuGraphMemsetNodeSetParams
func sim_cuGraphMemsetNodeSetParams(h C.CUgraphNode, p *C.CUDA_MEMSET_NODE_PARAMS_v1) C.CUresult {
	return setNode(h, graph.MemsetNode, func(_ *thread, old graph.Params) (graph.Params, error) {
		return newMemsetNode(old.(*memsetNode).context, p)
	})
}

//export sim_cuGraphExecMemsetNodeSetParams
func sim_cuGraphExecMemsetNodeSetParams(x C.CUgraphExec, n C.CUgraphNode, p *C.CUDA_MEMSET_NODE_PARAMS_v1, ctx C.CUcontext) C.CUresult {
	return setExecNode(x, n, graph.MemsetNode, memsetParams(p, ctx))
}
