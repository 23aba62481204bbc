//go:build cuda

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
)

var streams handles[*stream]

// stream is a FIFO of a context.
type stream struct {
	context *context
	sim     device.Stream
}

// streamOf is the stream of a handle, if it lives in the context; the null handle is
// the default stream.
func (c *context) streamOf(h C.CUstream) (*stream, error) {
	if h == nil {
		return &c.null, nil
	}
	s, err := streams.get(of(unsafe.Pointer(h)))
	if err == nil && s.context != c {
		err = invalidHandle
	}
	return s, err
}

func (s *stream) owner() *context { return s.context }

// submit enqueues work.
func (s *stream) submit(w device.Work) error { return s.context.sim.Submit(s.sim, w) }
