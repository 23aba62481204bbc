//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

var contexts handles[*context]

// The life of a context:
//
//	cuCtxCreate, or the first retain of a primary context
//	   │  open: a new sim.Device and a new id
//	   ▼
//	 active ── a fault ──► active; all calls return the code of the fault
//	   │
//	   │  cuCtxDestroy, the last release, or a reset: close
//	   ▼
//	 closing: destroyed is set, closing is a channel; the device finishes its work without the driver's lock
//	   │  forget: all objects of the context are removed from their tables
//	   ▼
//	 destroyed ── retain (a primary context only): open again, with the same handle and a new id ──► active
//
// Objects that may outlive their context, such as instances of graphs and libraries, compare ids.

// context is a GPU with its own memory, modules, streams and fault state.
type context struct {
	handle    handle
	gpu       *gpu
	sim       *sim.Device
	id        uint64 // never reused, unlike the handle of a primary context
	flags     C.uint
	destroyed bool          // for a primary context: not active
	closing   chan struct{} // closed at the end of close; nil unless close is running
	limits    limits
	cache     C.CUfunc_cache
	legacy    *stream       // nil until its first use
	scratch   device.Launch // the last launch
	uses      int           // number of calls of cuCtxAttach without a cuCtxDetach
	peers     []uint64      // ids of the contexts whose memory its kernels may access
}

// owner is nil: a context is not part of another.
func (c *context) owner() *context { return nil }

// Flags for the creation of a context: how to wait, one of CU_CTX_SCHED_*, and
// the other flags up to CUDA 12.4.
const (
	scheduleFlags = 0x07
	contextFlags  = 0xff
)

// validContextFlags reports whether flags contain only known bits, and at most one way to wait.
func validContextFlags(flags C.uint) bool {
	schedule := flags & scheduleFlags
	return flags&^contextFlags == 0 && schedule&(schedule-1) == 0
}

var lastContextID uint64

// open creates the context's device.
func (c *context) open() error {
	d, err := c.gpu.open(c)
	if err != nil {
		return err
	}
	lastContextID++
	c.sim, c.id, c.destroyed = d, lastContextID, false
	c.legacy, c.peers = nil, nil
	c.limits = defaultLimits()
	return nil
}

// outside runs a function in the middle of a call without the driver's lock: a wait of the device, or a function of the
// program. Other threads may call the driver meanwhile. Afterwards driver.caller is the thread of this call again.
//
// Other threads cannot destroy the context of the call, because that waits for the call. They may change all other
// state. A call must therefore not keep state across outside, neither the contents of context.scratch nor
// the object of a handle: it waits first, or looks the handle up again.
func outside(f func()) {
	caller := driver.caller
	driver.mu.Unlock()
	f()
	driver.mu.Lock()
	driver.caller = caller
}

// newContext creates a context with a handle.
func newContext(g *gpu, flags C.uint) (*context, error) {
	c := &context{gpu: g, flags: flags}
	if err := c.open(); err != nil {
		return nil, err
	}
	c.handle = contexts.add(c)
	return c, nil
}

// close waits for the context's work, and destroys all objects in it. Their handles
// are invalid for other threads meanwhile. An earlier fault of the context is not
// an error of close.
func (c *context) close() {
	c.destroyed, c.closing = true, make(chan struct{})
	captures.Forget(c)
	if err := c.sim.Close(); err != nil {
		explain(err)
	}
	forget(c) // after the work that may use it
	close(c.closing)
	c.closing = nil
}

// contextOf returns the context of a handle.
func contextOf(h C.CUcontext) (*context, error) {
	c, err := contexts.get(of(unsafe.Pointer(h)))
	if err != nil {
		return nil, invalidContext
	}
	return c, nil
}

//simabi:also cuCtxCreate
//export sim_cuCtxCreate_v2
func sim_cuCtxCreate_v2(ctx *C.CUcontext, flags C.uint, dev C.CUdevice) C.CUresult {
	return call(func(t *thread) error {
		g, err := gpuOf(dev)
		if err != nil {
			return err
		}
		if ctx == nil || !validContextFlags(flags) {
			return invalidValue
		}
		c, err := newContext(g, flags)
		if err != nil {
			return err
		}
		t.push(c)
		c.handle.put(unsafe.Pointer(ctx))
		return nil
	})
}

// sim_cuCtxCreate_v3 refuses an execution affinity, which is for clients of the
// multi-process service.
//
//export sim_cuCtxCreate_v3
func sim_cuCtxCreate_v3(ctx *C.CUcontext, affinity *C.CUexecAffinityParam, n C.int, flags C.uint, dev C.CUdevice) C.CUresult {
	if n == 0 {
		return sim_cuCtxCreate_v2(ctx, flags, dev)
	}
	return call(func(*thread) error {
		if n < 0 || affinity == nil {
			return invalidValue
		}
		return status(C.CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)
	})
}

//simabi:also cuCtxDestroy
//export sim_cuCtxDestroy_v2
func sim_cuCtxDestroy_v2(ctx C.CUcontext) C.CUresult {
	return call(func(t *thread) error {
		c, err := contextOf(ctx)
		if err != nil {
			return err
		}
		return t.destroy(c)
	})
}

// destroy destroys a context. If it is current, the thread pops it.
func (t *thread) destroy(c *context) error {
	if c == c.gpu.primary.context {
		return invalidContext // a primary context is released, not destroyed
	}
	if t.top() == c {
		t.pop()
	}
	_, _ = contexts.remove(c.handle)
	c.close()
	return nil
}

// sim_cuCtxAttach counts one more use of the current context.
//
//export sim_cuCtxAttach
func sim_cuCtxAttach(ctx *C.CUcontext, flags C.uint) C.CUresult {
	return inContext(func(c *context) error {
		if ctx == nil || flags != 0 {
			return invalidValue
		}
		c.uses++
		c.handle.put(unsafe.Pointer(ctx))
		return nil
	})
}

// sim_cuCtxDetach ends a use of the current context, and destroys it with the last.
//
//export sim_cuCtxDetach
func sim_cuCtxDetach(ctx C.CUcontext) C.CUresult {
	return call(func(t *thread) error {
		c, err := contextOf(ctx)
		switch {
		case err != nil:
			return err
		case t.top() != c:
			return invalidContext
		case c.uses > 0:
			c.uses--
			return nil
		}
		return t.destroy(c)
	})
}

// sim_cuCtxSynchronize waits for all work of the context. It is refused while a stream of the context is captured.
//
//export sim_cuCtxSynchronize
func sim_cuCtxSynchronize() C.CUresult {
	return inContextUnsafe(func(c *context) error {
		if err := captures.Idle(c); err != nil {
			return err
		}
		return c.sim.SynchronizeAll()
	})
}

//export sim_cuCtxGetDevice
func sim_cuCtxGetDevice(dev *C.CUdevice) C.CUresult {
	return inContext(func(c *context) error {
		if dev == nil {
			return invalidValue
		}
		*dev = C.CUdevice(c.gpu.ordinal)
		return nil
	})
}

//export sim_cuCtxGetFlags
func sim_cuCtxGetFlags(flags *C.uint) C.CUresult {
	return inContext(func(c *context) error {
		if flags == nil {
			return invalidValue
		}
		*flags = c.flags
		return nil
	})
}

//export sim_cuCtxSetFlags
func sim_cuCtxSetFlags(flags C.uint) C.CUresult {
	return inContext(func(c *context) error {
		if !validContextFlags(flags) {
			return invalidValue
		}
		c.flags = flags
		return nil
	})
}

// orCurrent returns the context of a handle, or the current context for a null
// handle.
func (t *thread) orCurrent(h C.CUcontext) (*context, error) {
	if h == nil {
		return t.context()
	}
	c, err := contextOf(h)
	if err == nil && c.destroyed {
		err = status(C.CUDA_ERROR_CONTEXT_IS_DESTROYED)
	}
	return c, err
}

//export sim_cuCtxGetId
func sim_cuCtxGetId(ctx C.CUcontext, id *C.ulonglong) C.CUresult {
	return call(func(t *thread) error {
		c, err := t.orCurrent(ctx)
		switch {
		case err != nil:
			return err
		case id == nil:
			return invalidValue
		}
		*id = C.ulonglong(c.id)
		return nil
	})
}

// contextVersion is the interface version of contexts, which is the same since CUDA
// 3.2.
const contextVersion = 3020

// sim_cuCtxGetApiVersion returns the interface version, also for the current context if ctx is NULL.
//
//export sim_cuCtxGetApiVersion
func sim_cuCtxGetApiVersion(ctx C.CUcontext, version *C.uint) C.CUresult {
	return call(func(t *thread) error {
		_, err := t.orCurrent(ctx)
		switch {
		case err != nil:
			return err
		case version == nil:
			return invalidValue
		}
		*version = contextVersion
		return nil
	})
}

//export sim_cuCtxGetStreamPriorityRange
func sim_cuCtxGetStreamPriorityRange(least, greatest *C.int) C.CUresult {
	return inContext(func(c *context) error {
		info := c.sim.Info()
		if least != nil {
			*least = C.int(info.LeastPriority)
		}
		if greatest != nil {
			*greatest = C.int(info.GreatestPriority)
		}
		return nil
	})
}

//export sim_cuCtxGetExecAffinity
func sim_cuCtxGetExecAffinity(affinity *C.CUexecAffinityParam, kind C.CUexecAffinityType) C.CUresult {
	return inContext(func(*context) error {
		if affinity == nil || kind != C.CU_EXEC_AFFINITY_TYPE_SM_COUNT {
			return invalidValue
		}
		return status(C.CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY)
	})
}
