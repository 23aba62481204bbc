//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"errors"
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
)

// instantiate stores the handle of a new instance of a graph.
func instantiate(t *thread, out *C.CUgraphExec, h C.CUgraph, flags C.ulonglong) (*graphExec, error) {
	if out == nil {
		return nil, invalidValue
	}
	g, err := graphOf(h)
	if err != nil {
		return nil, err
	}
	x, err := t.instantiate(g, flags)
	if err == nil {
		x.handle.put(unsafe.Pointer(out))
	}
	return x, err
}

//export sim_cuGraphInstantiateWithFlags
func sim_cuGraphInstantiateWithFlags(out *C.CUgraphExec, h C.CUgraph, flags C.ulonglong) C.CUresult {
	return call(func(t *thread) error {
		if flags&uploadFlag != 0 {
			return invalidValue // there is no stream for the upload
		}
		_, err := instantiate(t, out, h, flags)
		return err
	})
}

// sim_cuGraphInstantiateWithParams also stores the reason of a refusal and the node that causes it, and can enqueue the
// upload in a stream.
//
//export sim_cuGraphInstantiateWithParams
func sim_cuGraphInstantiateWithParams(out *C.CUgraphExec, h C.CUgraph, p *C.CUDA_GRAPH_INSTANTIATE_PARAMS) C.CUresult {
	return call(func(t *thread) error {
		if p == nil {
			return invalidValue
		}
		p.hErrNode_out, p.result_out = nil, C.CUDA_GRAPH_INSTANTIATE_SUCCESS
		_, err := instantiate(t, out, h, C.ulonglong(p.flags))
		if err == nil && p.flags&uploadFlag != 0 {
			err = upload(p.hUploadStream)
		}
		if err != nil {
			p.result_out = C.CUDA_GRAPH_INSTANTIATE_ERROR
		}
		var no *refusal
		if errors.As(err, &no) {
			p.result_out = no.result
			nodeHandle(no.node).put(unsafe.Pointer(&p.hErrNode_out))
		}
		return err
	})
}

// The forms before CUDA 12, which describe errors by a text.
//
//export sim_cuGraphInstantiate
func sim_cuGraphInstantiate(out *C.CUgraphExec, h C.CUgraph, node *C.CUgraphNode, log *C.char, room C.size_t) C.CUresult {
	return sim_cuGraphInstantiate_v2(out, h, node, log, room)
}

//simabi:also cuGraphInstantiate
//export sim_cuGraphInstantiate_v2
func sim_cuGraphInstantiate_v2(out *C.CUgraphExec, h C.CUgraph, node *C.CUgraphNode, log *C.char, room C.size_t) C.CUresult {
	return call(func(t *thread) error {
		_, err := instantiate(t, out, h, 0)
		var no *refusal
		var culprit *graph.Node
		text := ""
		if errors.As(err, &no) {
			culprit, text = no.node, no.Error()
		}
		if node != nil {
			nodeHandle(culprit).put(unsafe.Pointer(node))
		}
		if log != nil {
			writeText(log, room, text)
		}
		return err
	})
}

// writeText stores a text, truncated to fit with its final 0.
func writeText(at *C.char, room C.size_t, text string) {
	if room == 0 {
		return
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(at)), room)
	b[copy(b[:room-1], text)] = 0
}
