//go:build cuda && cgo

package simabi

/*
#include <cuda.h>
#include <stdlib.h>
*/
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/capture"
	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
)

// Stream capture. Package capture holds the rules; this file and the functions that enqueue work apply them:
//
//	call on a captured stream            effect
//	launch, copy, memset, memory ops,    a node is added that depends on the stream's set (stream.add);
//	host function, alloc, free, graph    the set then consists of the node
//	cuEventRecord                        the event gets a copy of the set; nothing runs
//	cuStreamWaitEvent                    the event's set is added to the stream's set; a stream outside joins the capture
//	wait for, or query of, the stream    refused; the capture becomes invalid (stream.idle)
//	callback, prefetch, attach           refused; the capture becomes invalid (stream.submit)
//
// Further calls are refused although they have no captured stream as an argument: uses of the legacy stream while a
// blocking stream of its context is captured (captures.Use), waits for the whole context (captures.Idle), and calls
// that may wait, depending on the modes of the captures and of the calling thread (captures.Unsafe).
//
// An invalid capture accepts no more work. cuStreamEndCapture then returns CUDA_ERROR_STREAM_CAPTURE_INVALIDATED and no
// graph.

// captures holds the captures of the process.
var captures capture.Session

// add adds work as a node to the capture of the stream.
func (s *stream) add(p graph.Params) error {
	if err := s.context.sim.EditGraph(); err != nil {
		return err
	}
	if c := s.capture.Capture(); c != nil {
		if err := admits(c.Graph, p); err != nil {
			return err
		}
	}
	n, err := s.capture.Add(p)
	if a, ok := p.(announcer); ok && err == nil {
		a.announce(n)
	}
	return err
}

// inContextUnsafe is inContext for a function that may wait for work, which the
// mode of a capture may prohibit.
func inContextUnsafe(body func(*context) error) C.CUresult {
	return inContext(func(c *context) error {
		if err := captures.Unsafe(&driver.caller.capture); err != nil {
			return err
		}
		return body(c)
	})
}

// onNamedUnsafe is onNamed for a function that may wait for work.
func onNamedUnsafe(body func() error) C.CUresult {
	return onNamed(func(t *thread) error {
		if err := captures.Unsafe(&t.capture); err != nil {
			return err
		}
		return body()
	})
}

// idle returns an error if the host cannot wait for the stream, or query it.
func (s *stream) idle() error {
	if err := s.capture.Refuse(); err != nil {
		return err
	}
	return captures.Unsafe(&driver.caller.capture)
}

// idle returns an error if the host cannot wait for the event, or query it.
func (e *event) idle() error {
	if err := e.capture.Refuse(); err != nil {
		return err
	}
	return captures.Unsafe(&driver.caller.capture)
}

// begin starts a capture of the stream.
func (s *stream) begin(mode C.CUstreamCaptureMode, into *graph.Graph, set []*graph.Node) error {
	if mode > C.CU_STREAM_CAPTURE_MODE_RELAXED {
		return invalidValue
	}
	return captures.Begin(&driver.caller.capture, &s.capture, capture.Mode(mode), into, set)
}

// sim_cuStreamBeginCapture is the first form, of CUDA 10.0, which has one mode.
//
//export sim_cuStreamBeginCapture
func sim_cuStreamBeginCapture(h C.CUstream) C.CUresult {
	return sim_cuStreamBeginCapture_v2(h, C.CU_STREAM_CAPTURE_MODE_GLOBAL)
}

//export sim_cuStreamBeginCapture_v2
func sim_cuStreamBeginCapture_v2(h C.CUstream, mode C.CUstreamCaptureMode) C.CUresult {
	return withStream(h, func(s *stream) error { return s.begin(mode, graph.New(), nil) })
}

// sim_cuStreamBeginCaptureToGraph adds the nodes to an existing graph. The first node depends on deps, which must be
// nodes of that graph.
//
//export sim_cuStreamBeginCaptureToGraph
func sim_cuStreamBeginCaptureToGraph(h C.CUstream, hg C.CUgraph, deps *C.CUgraphNode, data *C.CUgraphEdgeData, n C.size_t, mode C.CUstreamCaptureMode) C.CUresult {
	return withStream(h, func(s *stream) error {
		g, err := graphOf(hg)
		if err != nil {
			return err
		}
		set, err := nodesAt(deps, n)
		if err != nil {
			return err
		}
		if !noEdgeData(data, n) {
			return notSupported
		}
		for _, node := range set {
			if node.Graph() != g {
				return invalidValue
			}
		}
		return s.begin(mode, g, set)
	})
}

// sim_cuStreamEndCapture ends a capture in the stream and thread in which it began. With an error, it ends the capture
// without a graph, unless the stream or the thread is the wrong one.
//
//export sim_cuStreamEndCapture
func sim_cuStreamEndCapture(h C.CUstream, out *C.CUgraph) C.CUresult {
	return withStream(h, func(s *stream) error {
		if out == nil {
			return invalidValue
		}
		*out = nil
		g, err := captures.End(&driver.caller.capture, &s.capture)
		if err == nil {
			graphHandle(g).put(unsafe.Pointer(out))
		}
		return err
	})
}

//export sim_cuStreamIsCapturing
func sim_cuStreamIsCapturing(h C.CUstream, status *C.CUstreamCaptureStatus) C.CUresult {
	return sim_cuStreamGetCaptureInfo(h, status, nil)
}

//export sim_cuStreamGetCaptureInfo
func sim_cuStreamGetCaptureInfo(h C.CUstream, status *C.CUstreamCaptureStatus, id *C.cuuint64_t) C.CUresult {
	return sim_cuStreamGetCaptureInfo_v2(h, status, id, nil, nil, nil)
}

//export sim_cuStreamGetCaptureInfo_v2
func sim_cuStreamGetCaptureInfo_v2(h C.CUstream, status *C.CUstreamCaptureStatus, id *C.cuuint64_t, g *C.CUgraph, set **C.CUgraphNode, n *C.size_t) C.CUresult {
	return sim_cuStreamGetCaptureInfo_v3(h, status, id, g, set, nil, n)
}

// The arrays are valid until the next such call for the stream.
//
//export sim_cuStreamGetCaptureInfo_v3
func sim_cuStreamGetCaptureInfo_v3(h C.CUstream, status *C.CUstreamCaptureStatus, id *C.cuuint64_t, g *C.CUgraph, set **C.CUgraphNode, data **C.CUgraphEdgeData, n *C.size_t) C.CUresult {
	return withStream(h, func(s *stream) error {
		if status == nil {
			return invalidValue
		}
		if c := captures.Implicit(&s.capture); c != nil {
			return c.Implies()
		}
		*status = C.CUstreamCaptureStatus(s.capture.Status())
		c := s.capture.Capture()
		if c == nil || s.capture.Status() == capture.Invalidated {
			return nil
		}
		if id != nil {
			*id = C.cuuint64_t(c.ID)
		}
		if g != nil {
			graphHandle(c.Graph).put(unsafe.Pointer(g))
		}
		s.show(set, data, n)
		return nil
	})
}

// show stores the nodes that precede the stream's next node, and the edges from
// them, which have no data.
func (s *stream) show(set **C.CUgraphNode, data **C.CUgraphEdgeData, n *C.size_t) {
	nodes := s.capture.Set()
	C.free(s.shown)
	count := C.size_t(len(nodes))
	s.shown = C.calloc(count+1, C.sizeof_CUgraphNode+C.sizeof_CUgraphEdgeData)
	handles := unsafe.Slice((*handle)(s.shown), count)
	for i, node := range nodes {
		handles[i] = nodeHandle(node)
	}
	if set != nil {
		*set = (*C.CUgraphNode)(s.shown)
	}
	if data != nil {
		*data = (*C.CUgraphEdgeData)(unsafe.Add(s.shown, count*C.sizeof_CUgraphNode))
	}
	if n != nil {
		*n = count
	}
}

//export sim_cuStreamUpdateCaptureDependencies
func sim_cuStreamUpdateCaptureDependencies(h C.CUstream, deps *C.CUgraphNode, n C.size_t, flags C.uint) C.CUresult {
	return sim_cuStreamUpdateCaptureDependencies_v2(h, deps, nil, n, flags)
}

// sim_cuStreamUpdateCaptureDependencies_v2 adds nodes to the set of the stream, or replaces the set. Nodes of a
// replaced set need not be joined.
//
//export sim_cuStreamUpdateCaptureDependencies_v2
func sim_cuStreamUpdateCaptureDependencies_v2(h C.CUstream, deps *C.CUgraphNode, data *C.CUgraphEdgeData, n C.size_t, flags C.uint) C.CUresult {
	return withStream(h, func(s *stream) error {
		set, err := nodesAt(deps, n)
		switch {
		case err != nil:
			return err
		case !noEdgeData(data, n):
			return notSupported
		case flags == C.CU_STREAM_ADD_CAPTURE_DEPENDENCIES:
			return s.capture.Extend(set)
		case flags == C.CU_STREAM_SET_CAPTURE_DEPENDENCIES:
			return s.capture.Replace(set)
		}
		return invalidValue
	})
}

// sim_cuThreadExchangeStreamCaptureMode sets the mode of the calling thread and stores the previous one.
//
//export sim_cuThreadExchangeStreamCaptureMode
func sim_cuThreadExchangeStreamCaptureMode(mode *C.CUstreamCaptureMode) C.CUresult {
	return call(func(t *thread) error {
		if mode == nil || *mode > C.CU_STREAM_CAPTURE_MODE_RELAXED {
			return invalidValue
		}
		was := t.capture.Mode
		t.capture.Mode = capture.Mode(*mode)
		*mode = C.CUstreamCaptureMode(was)
		return nil
	})
}
