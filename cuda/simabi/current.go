//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import "unsafe"

// sim_cuCtxSetCurrent replaces the context on top of the calling thread's stack, or removes it for NULL.
//
//export sim_cuCtxSetCurrent
func sim_cuCtxSetCurrent(ctx C.CUcontext) C.CUresult {
	return call(func(t *thread) error {
		if ctx == nil {
			t.pop()
			return nil
		}
		c, err := contextOf(ctx)
		if err != nil {
			return err
		}
		t.pop()
		t.push(c)
		return nil
	})
}

// sim_cuCtxGetCurrent stores NULL without a current context. It also returns a context that has been destroyed.
//
//export sim_cuCtxGetCurrent
func sim_cuCtxGetCurrent(ctx *C.CUcontext) C.CUresult {
	return call(func(t *thread) error {
		if ctx == nil {
			return invalidValue
		}
		t.top().put(ctx)
		return nil
	})
}

//simabi:also cuCtxPushCurrent
//export sim_cuCtxPushCurrent_v2
func sim_cuCtxPushCurrent_v2(ctx C.CUcontext) C.CUresult {
	return call(func(t *thread) error {
		c, err := contextOf(ctx)
		if err != nil {
			return err
		}
		t.push(c)
		return nil
	})
}

//simabi:also cuCtxPopCurrent
//export sim_cuCtxPopCurrent_v2
func sim_cuCtxPopCurrent_v2(ctx *C.CUcontext) C.CUresult {
	return call(func(t *thread) error {
		c := t.pop()
		if c == nil {
			return invalidContext
		}
		if ctx != nil {
			c.put(ctx)
		}
		return nil
	})
}

// put stores the context's handle, or null if c is nil.
func (c *context) put(at *C.CUcontext) {
	*at = nil
	if c != nil {
		c.handle.put(unsafe.Pointer(at))
	}
}
