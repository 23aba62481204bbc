//go:build cuda

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/sim"
)

const contextIsDestroyed = C.CUDA_ERROR_CONTEXT_IS_DESTROYED

var contexts handles[*context]

// context is a GPU with its own memory, modules and streams, and its own fault.
type context struct {
	handle    handle
	gpu       *gpu
	sim       *sim.Device
	destroyed bool
	null      stream        // the default stream
	scratch   device.Launch // the last launch
}

// primary is the context that a GPU has once, counted by who retains it.
type primary struct {
	context *context
	users   int
}

func newContext(g *gpu) (*context, error) {
	d, err := g.open()
	if err != nil {
		return nil, err
	}
	c := &context{gpu: g, sim: d}
	c.null.context = c
	if c.null.sim, err = d.CreateStream(0); err != nil {
		return nil, err
	}
	c.handle = contexts.add(c)
	return c, nil
}

// enter brings the context's clock to the process's.
func (c *context) enter() *context {
	if l := driver.last; l != c {
		if l != nil {
			c.sim.WaitUntil(l.sim.Now())
		}
		driver.last = c
	}
	return c
}

func (c *context) destroy() error {
	_, err := contexts.remove(c.handle)
	if err != nil {
		return invalidContext
	}
	c.destroyed = true
	return c.sim.Close()
}

//export sim_cuCtxCreate_v2
func sim_cuCtxCreate_v2(ctx *C.CUcontext, flags C.uint, dev C.CUdevice) C.CUresult {
	return call(func(t *thread) error {
		g, err := gpuOf(dev)
		if err != nil {
			return err
		}
		if ctx == nil {
			return invalidValue
		}
		c, err := newContext(g)
		if err != nil {
			return err
		}
		t.stack = append(t.stack, c)
		c.handle.put(unsafe.Pointer(ctx))
		return nil
	})
}

//export sim_cuCtxDestroy_v2
func sim_cuCtxDestroy_v2(ctx C.CUcontext) C.CUresult {
	return call(func(t *thread) error {
		c, err := contexts.get(of(unsafe.Pointer(ctx)))
		if err != nil {
			return invalidContext
		}
		if n := len(t.stack); n > 0 && t.stack[n-1] == c {
			t.stack = t.stack[:n-1]
		}
		return c.destroy()
	})
}

//export sim_cuCtxSetCurrent
func sim_cuCtxSetCurrent(ctx C.CUcontext) C.CUresult {
	return call(func(t *thread) error {
		if ctx == nil {
			t.setCurrent(nil)
			return nil
		}
		c, err := contexts.get(of(unsafe.Pointer(ctx)))
		if err != nil {
			return invalidContext
		}
		t.setCurrent(c)
		return nil
	})
}

//export sim_cuCtxSynchronize
func sim_cuCtxSynchronize() C.CUresult {
	return inContext(func(c *context) error { return c.sim.SynchronizeAll() })
}
