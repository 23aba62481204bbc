//go:build cuda

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

var contexts handles[*context]

// context is a GPU with its own memory, modules and streams, and its own fault.
type context struct {
	handle    handle
	gpu       *gpu
	sim       *sim.Device
	id        uint64 // never used again, unlike the handle of a primary context
	flags     C.uint
	destroyed bool          // or, of a primary context, not active
	closing   chan struct{} // closed when close ends; nil unless it is under way
	limits    limits
	cache     C.CUfunc_cache
	legacy    *stream       // nil until something uses it
	scratch   device.Launch // the last launch
	uses      int           // of cuCtxAttach, beside that of creation
	peers     []uint64      // ids of those whose memory its kernels may access
}

// A context lives in none.
func (c *context) owner() *context { return nil }

// Flags that a context may be created with: how to wait, one of CU_CTX_SCHED_*, and
// what else there is up to CUDA 12.4.
const (
	scheduleFlags = 0x07
	contextFlags  = 0xff
)

func validContextFlags(flags C.uint) bool {
	schedule := flags & scheduleFlags
	return flags&^contextFlags == 0 && schedule&(schedule-1) == 0
}

var lastContextID uint64

// open gives the context a device of its own.
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

// outside runs a function without the driver's lock, in the middle of a call: other
// threads may call the driver, whose state is the caller's again afterwards. They may do
// anything but end the context that the call waits in, which waits for the call. So a call
// that may wait keeps nothing of a context across that, neither what its scratch holds nor
// what a handle stood for: it waits first, or looks again.
func outside(f func()) {
	caller := driver.caller
	driver.mu.Unlock()
	f()
	driver.mu.Lock()
	driver.caller = caller
}

func newContext(g *gpu, flags C.uint) (*context, error) {
	c := &context{gpu: g, flags: flags}
	if err := c.open(); err != nil {
		return nil, err
	}
	c.handle = contexts.add(c)
	return c, nil
}

// close waits for the context's work and ends the life of all that is in it, which other
// threads cannot name any more meanwhile. A fault that the context had is no error of
// closing it.
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

// contextOf is the context of a handle.
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

// sim_cuCtxCreate_v3 takes no execution affinity: that is for clients of the
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

// destroy ends a context, which the thread pops if it is current.
func (t *thread) destroy(c *context) error {
	if c == c.gpu.primary.context {
		return invalidContext // it is released, not destroyed
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

// orCurrent is the context of a handle, or the thread's for a null one.
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

// contextVersion is the version of the interface that contexts of today's cuCtxCreate
// have, and always had since CUDA 3.2.
const contextVersion = 3020

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
