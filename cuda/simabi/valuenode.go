//go:build cuda && cgo

package simabi

/*
#include <cuda.h>
#include <stdlib.h>
*/
import "C"

import (
	"slices"
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// valueNode is a batch of waits for words of memory and stores to them.
type valueNode struct {
	context *context
	ops     []sim.ValueOp
}

func (v *valueNode) Kind() graph.Kind { return graph.BatchMemOpNode }
func (v *valueNode) home() *context   { return v.context }

// Becomes permits other words, values and relations. The number of operations and
// the type of each must stay the same.
func (v *valueNode) Becomes(next graph.Params) graph.Reason {
	n := next.(*valueNode)
	if n.context != v.context || !slices.EqualFunc(v.ops, n.ops, sameType) {
		return graph.ParametersChanged
	}
	return graph.Same
}

// sameType reports whether two operations have the same width, and both wait or both store.
func sameType(a, b sim.ValueOp) bool {
	return a.Width == b.Width && (a.Kind == sim.WriteValue) == (b.Kind == sim.WriteValue)
}

func (v *valueNode) lower() (sim.GraphNode, error) {
	return sim.GraphNode{Work: &sim.Values{Ops: v.ops}}, nil
}

// valueParams returns the parameters of a node with a batch of operations.
func valueParams(p *C.CUDA_BATCH_MEM_OP_NODE_PARAMS) params {
	return func(t *thread, _ graph.Params) (graph.Params, error) {
		if p == nil || p.flags != 0 {
			return nil, invalidValue
		}
		c, err := t.orCurrent(p.ctx)
		if err != nil {
			return nil, err
		}
		ops, ok := batch(p.count, p.paramArray)
		if !ok || len(ops) == 0 {
			return nil, invalidValue
		}
		v := &valueNode{c, ops}
		return v, check(v)
	}
}

// show returns a C array that describes the operations.
func (v *valueNode) show(n *graph.Node) *C.CUstreamBatchMemOpParams {
	if views[n] == nil {
		views[n] = C.calloc(C.size_t(len(v.ops)), C.sizeof_CUstreamBatchMemOpParams)
		for i := range v.ops {
			w := memOpAt((*C.CUstreamBatchMemOpParams)(views[n]), i)
			w.operation, w.flags = memOp(&v.ops[i])
			w.address = C.CUdeviceptr(v.ops[i].Ptr)
			*(*uint64)(unsafe.Pointer(&w.anon0)) = v.ops[i].Value
		}
	}
	return (*C.CUstreamBatchMemOpParams)(views[n])
}

//export sim_cuGraphAddBatchMemOpNode
func sim_cuGraphAddBatchMemOpNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t, p *C.CUDA_BATCH_MEM_OP_NODE_PARAMS) C.CUresult {
	return addNode(out, g, deps, n, valueParams(p))
}

//export sim_cuGraphBatchMemOpNodeGetParams
func sim_cuGraphBatchMemOpNodeGetParams(h C.CUgraphNode, out *C.CUDA_BATCH_MEM_OP_NODE_PARAMS) C.CUresult {
	return getNode(h, unsafe.Pointer(out), func(n *graph.Node, v *valueNode) error {
		*out = C.CUDA_BATCH_MEM_OP_NODE_PARAMS{count: C.uint(len(v.ops)), paramArray: v.show(n)}
		v.context.handle.put(unsafe.Pointer(&out.ctx))
		return nil
	})
}

//export sim_cuGraphBatchMemOpNodeSetParams
func sim_cuGraphBatchMemOpNodeSetParams(h C.CUgraphNode, p *C.CUDA_BATCH_MEM_OP_NODE_PARAMS) C.CUresult {
	return setNode(h, graph.BatchMemOpNode, valueParams(p))
}

//export sim_cuGraphExecBatchMemOpNodeSetParams
func sim_cuGraphExecBatchMemOpNodeSetParams(x C.CUgraphExec, h C.CUgraphNode, p *C.CUDA_BATCH_MEM_OP_NODE_PARAMS) C.CUresult {
	return setExecNode(x, h, graph.BatchMemOpNode, valueParams(p))
}
