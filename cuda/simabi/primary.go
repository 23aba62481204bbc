//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import "unsafe"

// primary is the primary context of a GPU, with a reference count. It keeps its
// handle when it is destroyed and activated again.
type primary struct {
	context *context // nil until it is first activated
	users   int
	flags   C.uint // flags of the next activation
}

// active reports whether the context exists and is not destroyed.
func (p *primary) active() bool { return p.context != nil && !p.context.destroyed }

// settle waits until no other thread is destroying the context.
func (p *primary) settle() {
	for p.context != nil && p.context.closing != nil {
		ended := p.context.closing
		outside(func() { <-ended })
	}
}

// retain returns the primary context and counts a user. It activates the context for the first user, and after a reset.
// If another thread is closing the context, it waits.
func (g *gpu) retain() (c *context, err error) {
	p := &g.primary
	p.settle()
	switch {
	case p.context == nil:
		p.context, err = newContext(g, p.flags)
	case !p.active():
		err = p.context.open()
	}
	if err != nil {
		return nil, err
	}
	p.context.flags = p.flags
	p.users++
	return p.context, nil
}

//export sim_cuDevicePrimaryCtxRetain
func sim_cuDevicePrimaryCtxRetain(ctx *C.CUcontext, dev C.CUdevice) C.CUresult {
	return call(func(*thread) error {
		g, err := gpuOf(dev)
		if err != nil {
			return err
		}
		if ctx == nil {
			return invalidValue
		}
		c, err := g.retain()
		if err != nil {
			return err
		}
		c.handle.put(unsafe.Pointer(ctx))
		return nil
	})
}

// sim_cuDevicePrimaryCtxRelease_v2 destroys the context with the last user.
//
//simabi:also cuDevicePrimaryCtxRelease
//export sim_cuDevicePrimaryCtxRelease_v2
func sim_cuDevicePrimaryCtxRelease_v2(dev C.CUdevice) C.CUresult {
	return call(func(*thread) error {
		g, err := gpuOf(dev)
		if err != nil {
			return err
		}
		p := &g.primary
		if p.users == 0 {
			return invalidContext
		}
		if p.users--; p.users == 0 && p.active() {
			p.context.close()
		}
		return nil
	})
}

// sim_cuDevicePrimaryCtxReset_v2 destroys the state of the context. The reference count is unchanged: each retain
// still needs a release.
//
//simabi:also cuDevicePrimaryCtxReset
//export sim_cuDevicePrimaryCtxReset_v2
func sim_cuDevicePrimaryCtxReset_v2(dev C.CUdevice) C.CUresult {
	return call(func(*thread) error {
		g, err := gpuOf(dev)
		if err != nil {
			return err
		}
		if g.primary.settle(); g.primary.active() {
			g.primary.context.close()
		}
		return nil
	})
}

// sim_cuDevicePrimaryCtxSetFlags_v2 sets the flags of the active context and of later activations.
//
//simabi:also cuDevicePrimaryCtxSetFlags
//export sim_cuDevicePrimaryCtxSetFlags_v2
func sim_cuDevicePrimaryCtxSetFlags_v2(dev C.CUdevice, flags C.uint) C.CUresult {
	return call(func(*thread) error {
		g, err := gpuOf(dev)
		if err != nil {
			return err
		}
		if !validContextFlags(flags) {
			return invalidValue
		}
		p := &g.primary
		p.flags = flags
		if p.active() {
			p.context.flags = flags
		}
		return nil
	})
}

//export sim_cuDevicePrimaryCtxGetState
func sim_cuDevicePrimaryCtxGetState(dev C.CUdevice, flags *C.uint, active *C.int) C.CUresult {
	return call(func(*thread) error {
		g, err := gpuOf(dev)
		if err != nil {
			return err
		}
		if flags == nil || active == nil {
			return invalidValue
		}
		*flags, *active = g.primary.flags, 0
		if g.primary.active() {
			*active = 1
		}
		return nil
	})
}
