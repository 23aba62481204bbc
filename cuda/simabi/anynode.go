//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
)

// anyParams converts parameters that contain their own kind.
func anyParams(p *C.CUgraphNodeParams) params {
	if p == nil || p.reserved0 != [3]C.int{} || p.reserved2 != 0 {
		return refuse(invalidValue)
	}
	u := unsafe.Pointer(&p.anon0[0])
	switch graph.Kind(p._type) {
	case graph.KernelNode:
		return kernelParamsV2((*C.CUDA_KERNEL_NODE_PARAMS_v2)(u))
	case graph.MemcpyNode:
		m := (*C.CUDA_MEMCPY_NODE_PARAMS)(u)
		if m.flags != 0 || m.reserved != 0 {
			return refuse(invalidValue)
		}
		return memcpyParams(&m.copyParams, m.copyCtx)
	case graph.MemsetNode:
		m := (*C.CUDA_MEMSET_NODE_PARAMS_v2)(u)
		return memsetParams((*C.CUDA_MEMSET_NODE_PARAMS_v1)(u), m.ctx)
	case graph.HostNode:
		return hostParams((*C.CUDA_HOST_NODE_PARAMS_v1)(u))
	case graph.ChildNode:
		return childParams((*C.CUDA_CHILD_GRAPH_NODE_PARAMS)(u).graph)
	case graph.EmptyNode:
		return emptyParams
	case graph.WaitEventNode:
		return waitParams((*C.CUDA_EVENT_WAIT_NODE_PARAMS)(u).event)
	case graph.EventRecordNode:
		return recordParams((*C.CUDA_EVENT_RECORD_NODE_PARAMS)(u).event)
	case graph.MemAllocNode:
		return allocParams((*C.CUDA_MEM_ALLOC_NODE_PARAMS_v1)(u)) // v2 is the same
	case graph.MemFreeNode:
		return freeParams((*C.CUDA_MEM_FREE_NODE_PARAMS)(u).dptr)
	case graph.ConditionalNode:
		return conditionalParams((*C.CUDA_CONDITIONAL_NODE_PARAMS)(u))
	case graph.BatchMemOpNode:
		return valueParams((*C.CUDA_BATCH_MEM_OP_NODE_PARAMS)(u))
	case graph.SemaphoreSignalNode, graph.SemaphoreWaitNode:
		return refuse(notSupported)
	}
	return refuse(invalidValue)
}

// kindOf returns the kind in the parameters.
func kindOf(p *C.CUgraphNodeParams) graph.Kind {
	if p == nil {
		return 0
	}
	return graph.Kind(p._type)
}

//export sim_cuGraphAddNode
func sim_cuGraphAddNode(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, n C.size_t, p *C.CUgraphNodeParams) C.CUresult {
	return addNode(out, g, deps, n, anyParams(p))
}

//export sim_cuGraphAddNode_v2
func sim_cuGraphAddNode_v2(out *C.CUgraphNode, g C.CUgraph, deps *C.CUgraphNode, data *C.CUgraphEdgeData, n C.size_t, p *C.CUgraphNodeParams) C.CUresult {
	if !noEdgeData(data, n) {
		return addNode(out, g, deps, n, refuse(notSupported))
	}
	return addNode(out, g, deps, n, anyParams(p))
}

// sim_cuGraphNodeSetParams changes a node of the kind that p contains. Nodes of another kind are refused.
//
//export sim_cuGraphNodeSetParams
func sim_cuGraphNodeSetParams(h C.CUgraphNode, p *C.CUgraphNodeParams) C.CUresult {
	return setNode(h, kindOf(p), anyParams(p))
}

//export sim_cuGraphExecNodeSetParams
func sim_cuGraphExecNodeSetParams(x C.CUgraphExec, h C.CUgraphNode, p *C.CUgraphNodeParams) C.CUresult {
	return setExecNode(x, h, kindOf(p), anyParams(p))
}
