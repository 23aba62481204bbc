//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// memcpyNode copies a box.
type memcpyNode struct {
	context  *context
	params   C.CUDA_MEMCPY3D
	dst, src operand
}

func (m *memcpyNode) Kind() graph.Kind { return graph.MemcpyNode }
func (m *memcpyNode) home() *context   { return m.context }

// Becomes permits other addresses and extents, in memory of the same types and
// contexts.
func (m *memcpyNode) Becomes(next graph.Params) graph.Reason {
	n := next.(*memcpyNode)
	if n.context != m.context || n.dst != m.dst || n.src != m.src {
		return graph.ParametersChanged
	}
	return graph.Same
}

// operand contains the properties of a side of a copy that must not change in an
// instance. They are those at the creation of the node, since the memory may have
// been freed later.
type operand struct {
	kind    C.CUmemorytype
	context *context // the context of device memory
}

// operand determines the kind of memory and the context of a side from its address.
func (b *boxSide) operand() operand {
	o := operand{kind: b.kind}
	if b.kind == C.CU_MEMORYTYPE_DEVICE || b.kind == C.CU_MEMORYTYPE_UNIFIED {
		o.kind = C.CU_MEMORYTYPE_DEVICE
		switch at := blocks.at(b.device); {
		case at != nil && !at.onHost():
			o.context = at.context
		case anyPlace(b.device).onHost():
			o.kind = C.CU_MEMORYTYPE_HOST
		}
	}
	return o
}

func (m *memcpyNode) lower() (sim.GraphNode, error) {
	p := &m.params
	dst, src := sides3D(p)
	t, err := boxCopy(dst, src, p.WidthInBytes, p.Height, p.Depth)
	return sim.GraphNode{Work: t}, err
}

// flat reports whether the box is one row.
func (m *memcpyNode) flat() bool { return m.params.Height == 1 && m.params.Depth == 1 }

// newMemcpyNode returns a node that the device has checked. Copies without bytes are refused, as by a driver.
func newMemcpyNode(c *context, p *C.CUDA_MEMCPY3D) (graph.Params, error) {
	if p == nil || p.WidthInBytes == 0 || p.Height == 0 || p.Depth == 0 {
		return nil, invalidValue
	}
	dst, src := sides3D(p)
	m := &memcpyNode{c, *p, dst.operand(), src.operand()}
	return m, check(m)
}

// memcpyParams returns the parameters of a node in a context, the current one for
// NULL.
func memcpyParams(p *C.CUDA_MEMCPY3D, ctx C.CUcontext) params {
	return func(t *thread, old graph.Params) (graph.Params, error) {
		c, err := t.orCurrent(ctx)
		if err != nil {
			return nil, err
		}
		return newMemcpyNode(c, p)
	}
}

//export sim_cuGraphAddMemcpyNode
func sim_cuGraphAddMemcpyNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t, p *C.CUDA_MEMCPY3D, ctx C.CUcontext) C.CUresult {
	return addNode(out, g, deps, n, memcpyParams(p, ctx))
}

//export sim_cuGraphMemcpyNodeGetParams
func sim_cuGraphMemcpyNodeGetParams(h C.CUgraphNode, out *C.CUDA_MEMCPY3D) C.CUresult {
	return getNode(h, unsafe.Pointer(out), func(_ *graph.Node, m *memcpyNode) error {
		*out = m.params
		return nil
	})
}

//export sim_cuGraphMemcpyNodeSetParams
func sim_cuGraphMemcpyNodeSetParams(h C.CUgraphNode, p *C.CUDA_MEMCPY3D) C.CUresult {
	return setNode(h, graph.MemcpyNode, func(_ *thread, old graph.Params) (graph.Params, error) {
		return newMemcpyNode(old.(*memcpyNode).context, p)
	})
}

// sim_cuGraphExecMemcpyNodeSetParams changes copies of a single row only, as documented. cuGraphExecUpdate can change
// boxes.
//
//export sim_cuGraphExecMemcpyNodeSetParams
func sim_cuGraphExecMemcpyNodeSetParams(x C.CUgraphExec, n C.CUgraphNode, p *C.CUDA_MEMCPY3D, ctx C.CUcontext) C.CUresult {
	return setExecNode(x, n, graph.MemcpyNode, func(t *thread, old graph.Params) (graph.Params, error) {
		if p == nil || p.Height != 1 || p.Depth != 1 || !old.(*memcpyNode).flat() {
			return nil, invalidValue
		}
		return memcpyParams(p, ctx)(t, old)
	})
}
