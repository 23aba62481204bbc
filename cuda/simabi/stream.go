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
	"github.com/reprise-gpu/reprise/device"
)

// Streams of a context:
//
//	stream                            ordered with the legacy stream   created by
//	legacy stream (0 or 1)            is it                            the first use, one per context
//	per-thread default (0 or 2)       yes                              the first use, one per thread and context
//	blocking stream                   yes                              cuStreamCreate with flags 0
//	non-blocking stream               no                               cuStreamCreate with CU_STREAM_NON_BLOCKING
//
// Handle 0 is the legacy stream, or the per-thread default stream in functions whose names end in _ptds or _ptsz. Work
// of the legacy stream waits for all earlier work of the blocking streams, and later work of these waits for it. The
// device implements that order.

// stream is a FIFO of a context.
type stream struct {
	handle   handle
	context  *context
	sim      device.Stream
	flags    C.uint // CUstream_flags
	priority int
	id       uint64 // never reused
	capture  capture.Stream
	shown    unsafe.Pointer // C memory with the last reported state of the capture

	attributes map[C.CUstreamAttrID]C.CUstreamAttrValue // attributes that were set
}

func (s *stream) owner() *context { return s.context }

var (
	streams      handles[*stream]
	lastStreamID uint64
)

// The handles of the predefined streams.
const (
	nullStream      handle = 0
	legacyStream    handle = 1 // CU_STREAM_LEGACY
	perThreadStream handle = 2 // CU_STREAM_PER_THREAD
)

// stream returns the stream of a handle for the calling thread. The null stream is
// the thread's own stream in a function of the _ptds or _ptsz kind, else the legacy
// stream.
func (t *thread) stream(name C.CUstream) (*stream, error) {
	h := of(unsafe.Pointer(name))
	if h > perThreadStream {
		return streams.get(h)
	}
	c, err := t.context()
	if err != nil {
		return nil, err
	}
	if h == perThreadStream || h == nullStream && t.perThread {
		return t.ownStream(c)
	}
	return c.legacyStream(), nil
}

// useStream returns the stream of a handle for a caller that uses it.
func useStream(h C.CUstream) (*stream, error) {
	s, err := driver.caller.stream(h)
	if err == nil {
		err = captures.Use(&s.capture)
	}
	return s, err
}

// streamOf is useStream for a stream that must be in the context.
func (c *context) streamOf(h C.CUstream) (*stream, error) {
	s, err := useStream(h)
	if err == nil && s.context != c {
		err = invalidHandle
	}
	return s, err
}

// submit enqueues work. It fails if the stream is captured, since the work cannot
// become a node.
func (s *stream) submit(w device.Work) error {
	if err := s.capture.Refuse(); err != nil {
		return err
	}
	return s.context.sim.Submit(s.sim, w)
}

// legacyStream returns the stream that is ordered with all blocking streams of a
// context.
func (c *context) legacyStream() *stream {
	if c.legacy == nil {
		c.legacy = c.newStream(c.sim.LegacyStream(), C.CU_STREAM_DEFAULT, 0)
		c.legacy.capture.Legacy, c.legacy.capture.Blocking = true, false
	}
	return c.legacy
}

// ownStream returns the thread's default stream in a context, a blocking one.
func (t *thread) ownStream(c *context) (*stream, error) {
	if s := t.own[c.id]; s != nil {
		return s, nil
	}
	made, err := c.sim.CreateBlockingStream(0)
	if err != nil {
		return nil, err
	}
	if t.own == nil {
		t.own = map[uint64]*stream{}
	}
	s := c.newStream(made, 0, 0)
	t.own[c.id] = s
	return s, nil
}

// newStream returns a driver's stream for a stream of the device. It has no handle yet.
func (c *context) newStream(made device.Stream, flags C.uint, priority int) *stream {
	lastStreamID++
	return &stream{context: c, sim: made, flags: flags, id: lastStreamID,
		priority: c.clampPriority(priority),
		capture:  capture.Stream{Owner: c, Blocking: flags == C.CU_STREAM_DEFAULT}}
}

// clampPriority returns the nearest priority that the device has. Smaller numbers are more urgent.
func (c *context) clampPriority(p int) int {
	info := c.sim.Info()
	return min(max(p, info.GreatestPriority), info.LeastPriority)
}

// createStream creates a stream with a handle.
func (c *context) createStream(flags C.uint, priority int) (*stream, error) {
	create := c.sim.CreateBlockingStream
	switch flags {
	case C.CU_STREAM_DEFAULT:
	case C.CU_STREAM_NON_BLOCKING:
		create = c.sim.CreateStream
	default:
		return nil, invalidValue
	}
	made, err := create(priority)
	if err != nil {
		return nil, err
	}
	s := c.newStream(made, flags, priority)
	s.handle = streams.add(s)
	return s, nil
}

// withStream is onNamed for a function of a stream. The body runs in the stream's
// context. Only the default streams need a current context.
func withStream(h C.CUstream, body func(*stream) error) C.CUresult {
	return onNamed(func(t *thread) error {
		s, err := t.stream(h)
		if err != nil {
			return err
		}
		return body(s)
	})
}

// inStream is withStream for a function that enqueues work or waits for it.
func inStream(h C.CUstream, body func(*stream) error) C.CUresult {
	return withStream(h, func(s *stream) error {
		if err := captures.Use(&s.capture); err != nil {
			return err
		}
		return body(s)
	})
}

//export sim_cuStreamCreate
func sim_cuStreamCreate(out *C.CUstream, flags C.uint) C.CUresult {
	return sim_cuStreamCreateWithPriority(out, flags, 0)
}

// sim_cuStreamCreateWithPriority replaces a priority out of range by the nearest valid one.
//
//export sim_cuStreamCreateWithPriority
func sim_cuStreamCreateWithPriority(out *C.CUstream, flags C.uint, priority C.int) C.CUresult {
	return inContext(func(c *context) error {
		if out == nil {
			return invalidValue
		}
		s, err := c.createStream(flags, int(priority))
		if err == nil {
			s.handle.put(unsafe.Pointer(out))
		}
		return err
	})
}

// Work of a destroyed stream continues.
//
//simabi:also cuStreamDestroy
//export sim_cuStreamDestroy_v2
func sim_cuStreamDestroy_v2(h C.CUstream) C.CUresult {
	return withStream(h, func(s *stream) error {
		if _, err := streams.remove(s.handle); err != nil {
			return err // a default stream
		}
		captures.Destroyed(&s.capture)
		C.free(s.shown)
		return s.context.sim.DestroyStream(s.sim)
	})
}

//export sim_cuStreamSynchronize
func sim_cuStreamSynchronize(h C.CUstream) C.CUresult {
	return inStream(h, func(s *stream) error {
		if err := s.idle(); err != nil {
			return err
		}
		return s.context.sim.Synchronize(s.sim)
	})
}

// sim_cuStreamQuery returns CUDA_ERROR_NOT_READY while work of the stream is pending. A query takes virtual time, so
// that a program that polls makes progress.
//
//export sim_cuStreamQuery
func sim_cuStreamQuery(h C.CUstream) C.CUresult {
	return inStream(h, func(s *stream) error {
		if err := s.idle(); err != nil {
			return err
		}
		return s.context.sim.Query(s.sim)
	})
}

//export sim_cuStreamGetPriority
func sim_cuStreamGetPriority(h C.CUstream, priority *C.int) C.CUresult {
	return withStream(h, func(s *stream) error {
		if priority == nil {
			return invalidValue
		}
		*priority = C.int(s.priority)
		return nil
	})
}

//export sim_cuStreamGetFlags
func sim_cuStreamGetFlags(h C.CUstream, flags *C.uint) C.CUresult {
	return withStream(h, func(s *stream) error {
		if flags == nil {
			return invalidValue
		}
		*flags = s.flags
		return nil
	})
}

//export sim_cuStreamGetCtx
func sim_cuStreamGetCtx(h C.CUstream, ctx *C.CUcontext) C.CUresult {
	return withStream(h, func(s *stream) error {
		if ctx == nil {
			return invalidValue
		}
		s.context.handle.put(unsafe.Pointer(ctx))
		return nil
	})
}

//export sim_cuStreamGetId
func sim_cuStreamGetId(h C.CUstream, id *C.ulonglong) C.CUresult {
	return withStream(h, func(s *stream) error {
		if id == nil {
			return invalidValue
		}
		*id = C.ulonglong(s.id)
		return nil
	})
}
