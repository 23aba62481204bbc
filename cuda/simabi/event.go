//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/capture"
	"github.com/reprise-gpu/reprise/device"
)

// The last record of an event is in one of three states, which determine what a wait for it does:
//
//	marked  capture   cuStreamWaitEvent                       cuEventSynchronize, cuEventQuery, cuEventElapsedTime
//	false   empty     nothing: there is no record             return at once (elapsed: an error)
//	true    empty     the stream waits                        wait, query
//	any     set       the stream joins the capture            refused; the capture becomes invalid
//
// A record in a stream that is not captured clears capture. The device keeps the records themselves.

// event marks a position in a stream of its context.
type event struct {
	handle  handle
	context *context
	sim     device.Event
	timing  bool
	capture capture.Event // the last record, if it was captured
	marked  bool          // the last record was not captured
}

func (e *event) owner() *context { return e.context }

var events handles[*event]

// eventOf returns the live event of a handle.
func eventOf(e C.CUevent) (*event, error) {
	return events.get(of(unsafe.Pointer(e)))
}

// withEvent is onNamed for a function of an event. The body runs in the event's
// context.
func withEvent(h C.CUevent, body func(*event) error) C.CUresult {
	return onNamed(func(*thread) error {
		e, err := eventOf(h)
		if err != nil {
			return err
		}
		return body(e)
	})
}

const eventFlags = C.CU_EVENT_BLOCKING_SYNC | C.CU_EVENT_DISABLE_TIMING | C.CU_EVENT_INTERPROCESS

// sim_cuEventCreate refuses events for other processes, because processes do not share virtual time.
//
//export sim_cuEventCreate
func sim_cuEventCreate(out *C.CUevent, flags C.uint) C.CUresult {
	return inContext(func(c *context) error {
		interprocess, timing := flags&C.CU_EVENT_INTERPROCESS != 0, flags&C.CU_EVENT_DISABLE_TIMING == 0
		switch {
		case out == nil || flags&^eventFlags != 0 || interprocess && timing:
			return invalidValue
		case interprocess:
			return fmt.Errorf("%w: %s: create the event without CU_EVENT_INTERPROCESS", notSupported, why("cuIpcGetEventHandle"))
		}
		made, err := c.sim.CreateEvent()
		if err != nil {
			return err
		}
		e := &event{context: c, sim: made, timing: timing}
		e.handle = events.add(e)
		e.handle.put(unsafe.Pointer(out))
		return nil
	})
}

// A pending record still completes, and calls that wait for it continue to wait.
//
//simabi:also cuEventDestroy
//export sim_cuEventDestroy_v2
func sim_cuEventDestroy_v2(h C.CUevent) C.CUresult {
	return withEvent(h, func(e *event) error {
		_, _ = events.remove(e.handle)
		return e.context.sim.DestroyEvent(e.sim)
	})
}

//export sim_cuEventRecord
func sim_cuEventRecord(h C.CUevent, st C.CUstream) C.CUresult {
	return sim_cuEventRecordWithFlags(h, st, C.CU_EVENT_RECORD_DEFAULT)
}

// sim_cuEventRecordWithFlags records in a stream of the event's own context. The external flag is valid only in a
// captured stream: it adds a node that records the event in each launch.
//
//export sim_cuEventRecordWithFlags
func sim_cuEventRecordWithFlags(h C.CUevent, st C.CUstream, flags C.uint) C.CUresult {
	return inStream(st, func(s *stream) error {
		if flags&^C.CU_EVENT_RECORD_EXTERNAL != 0 {
			return invalidValue
		}
		e, err := eventOf(h)
		if err != nil {
			return err
		}
		if e.context != s.context {
			return invalidHandle
		}
		return s.record(e, flags != 0)
	})
}

// record marks the stream's end. If external is set, it does so whenever the graph
// that captures the stream reaches that position.
func (s *stream) record(e *event, external bool) error {
	captured := s.capture.Capturing()
	switch {
	case external && !captured:
		return invalidValue
	case external:
		return s.add(recordNode{e})
	}
	if err := e.capture.Record(&s.capture); err != nil || captured {
		return err
	}
	e.marked = true
	return s.context.sim.Record(e.sim, s.sim)
}

// sim_cuStreamWaitEvent makes a stream of any context or GPU wait for the last record. With the external flag, a
// captured stream gets a node that waits in each launch.
//
//export sim_cuStreamWaitEvent
func sim_cuStreamWaitEvent(st C.CUstream, h C.CUevent, flags C.uint) C.CUresult {
	return inStream(st, func(s *stream) error {
		if flags&^C.CU_EVENT_WAIT_EXTERNAL != 0 {
			return invalidValue
		}
		e, err := eventOf(h)
		if err != nil {
			return err
		}
		return s.wait(e, flags != 0)
	})
}

// wait makes the stream wait for an event, which may be of another context or GPU.
// See record for external.
func (s *stream) wait(e *event, external bool) error {
	captured := s.capture.Capturing()
	switch {
	case external && !captured:
		return invalidValue
	case external:
		return s.add(waitNode{e})
	}
	if err := e.capture.Wait(&s.capture, e.marked); err != nil || s.capture.Capturing() {
		return err
	}
	return s.context.sim.WaitPeer(s.sim, e.context.sim, e.sim)
}

//export sim_cuEventQuery
func sim_cuEventQuery(h C.CUevent) C.CUresult {
	return withEvent(h, func(e *event) error {
		if err := e.idle(); err != nil {
			return err
		}
		return e.context.sim.QueryEvent(e.sim)
	})
}

//export sim_cuEventSynchronize
func sim_cuEventSynchronize(h C.CUevent) C.CUresult {
	return withEvent(h, func(e *event) error {
		if err := e.idle(); err != nil {
			return err
		}
		return e.context.sim.SynchronizeEvent(e.sim)
	})
}

// sim_cuEventElapsedTime stores the virtual time between two records of the same context in ms. Both events must have
// timing.
//
//export sim_cuEventElapsedTime
func sim_cuEventElapsedTime(ms *C.float, start, end C.CUevent) C.CUresult {
	return withEvent(start, func(a *event) error {
		b, err := eventOf(end)
		switch {
		case ms == nil:
			return invalidValue
		case err != nil:
			return err
		case a.context != b.context || !a.timing || !b.timing:
			return invalidHandle
		}
		if err := firstError(a.capture.Refuse(), b.capture.Refuse()); err != nil {
			return err
		}
		d, err := a.context.sim.Elapsed(a.sim, b.sim)
		if err == nil {
			*ms = C.float(float64(d) / float64(time.Millisecond))
		}
		return err
	})
}
