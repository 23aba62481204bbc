//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/texel"
)

// refs are the texture and surface references of a module for which a program has
// handles.
type refs struct {
	textures []textureHandle // in the order in which the program got them
	surfaces map[string]handle
}

// textureHandle is a texture reference with its name and the handle that the program has.
type textureHandle struct {
	name   string
	handle handle
	ref    *textureRef
}

// forget invalidates the handles.
func (r *refs) forget() {
	for _, t := range r.textures {
		_, _ = textureRefs.remove(t.handle)
	}
	for _, h := range r.surfaces {
		_, _ = surfaceRefs.remove(h)
	}
}

// bind applies the settings of texture references before a launch. The error is
// that of the reference that the program queried first.
func (m *module) bind() error {
	for _, t := range m.refs.textures {
		if !t.ref.unbound || t.ref.array == nil && t.ref.at == 0 {
			continue
		}
		t.ref.unbound = false // before bind, since another thread may change settings while it waits
		if err := t.ref.bind(m.context); err != nil {
			t.ref.unbound = true
			return err
		}
	}
	return nil
}

// bind waits for all work, since some of it may sample the previous binding.
func (r *textureRef) bind(c *context) error {
	var d texel.Desc
	resource := r.resource()
	format, err := c.over(&resource, &d)
	if err != nil {
		return err
	}
	sampled := C.CUDA_TEXTURE_DESC{addressMode: r.address, filterMode: r.filter, flags: r.flags & textureFlags,
		mipmapFilterMode: r.mipmap, borderColor: r.border}
	if err := sampling(&sampled, format, &d); err != nil {
		return err
	}
	return c.sim.BindTextureReference(r.ref, d)
}

// resource describes the texels of the reference in the form of a texture object.
func (r *textureRef) resource() (d C.CUDA_RESOURCE_DESC) {
	switch union := unsafe.Pointer(&d.res); {
	case r.array != nil:
		d.resType = C.CU_RESOURCE_TYPE_ARRAY
		r.array.handle.put(unsafe.Pointer(&(*arrayResource)(union).array))
	case r.linear > 0:
		d.resType = C.CU_RESOURCE_TYPE_LINEAR
		*(*linearResource)(union) = linearResource{r.at, r.format, C.uint(r.channels), r.linear}
	default:
		d.resType = C.CU_RESOURCE_TYPE_PITCH2D
		*(*pitchResource)(union) = pitchResource{r.at, r.format, C.uint(r.channels), r.rows.Width, r.rows.Height, r.pitch}
	}
	return d
}

// putReference stores the handle of a reference of a module, which handleOf returns for its name and its address.
func putReference(out unsafe.Pointer, mod C.CUmodule, name *C.char, kind string, handleOf func(m *module, name string, at device.Ptr) handle) C.CUresult {
	return inContext(func(c *context) error {
		if out == nil || name == nil {
			return invalidValue
		}
		m, err := c.moduleOf(mod)
		if err != nil {
			return err
		}
		text := C.GoString(name)
		at, err := c.sim.Reference(m.sim, text, kind)
		if err == nil {
			handleOf(m, text, at).put(out)
		}
		return err
	})
}

//export sim_cuModuleGetTexRef
func sim_cuModuleGetTexRef(out *C.CUtexref, mod C.CUmodule, name *C.char) C.CUresult {
	return putReference(unsafe.Pointer(out), mod, name, sim.TextureReference, (*module).texture)
}

// texture returns the handle of a texture reference, the same in each call.
func (m *module) texture(name string, at device.Ptr) handle {
	for _, t := range m.refs.textures {
		if t.name == name {
			return t.handle
		}
	}
	t := textureHandle{name: name, ref: newTextureRef()}
	t.ref.module, t.ref.ref = m, at
	t.handle = textureRefs.add(t.ref)
	m.refs.textures = append(m.refs.textures, t)
	return t.handle
}

var surfaceRefs handles[*surfaceRef]

// surfaceRef is a surface reference of a module.
type surfaceRef struct {
	module *module
	ref    device.Ptr
	array  *array
}

func (r *surfaceRef) owner() *context { return r.module.context }

//export sim_cuModuleGetSurfRef
func sim_cuModuleGetSurfRef(out *C.CUsurfref, mod C.CUmodule, name *C.char) C.CUresult {
	return putReference(unsafe.Pointer(out), mod, name, sim.SurfaceReference, (*module).surface)
}

// surface returns the handle of a surface reference, the same in each call.
func (m *module) surface(name string, at device.Ptr) handle {
	h, ok := m.refs.surfaces[name]
	if !ok {
		h = surfaceRefs.add(&surfaceRef{module: m, ref: at})
		if m.refs.surfaces == nil {
			m.refs.surfaces = map[string]handle{}
		}
		m.refs.surfaces[name] = h
	}
	return h
}

// onSurfaceRef runs the body with a reference of the current context.
func onSurfaceRef(h C.CUsurfref, body func(*context, *surfaceRef) error) C.CUresult {
	return inContext(func(c *context) error {
		r, err := surfaceRefs.get(of(unsafe.Pointer(h)))
		switch {
		case err != nil:
			return err
		case r.module.context != c:
			return invalidHandle
		}
		return body(c, r)
	})
}

// sim_cuSurfRefSetArray binds an array that permits stores by kernels. The binding takes effect at once.
//
//export sim_cuSurfRefSetArray
func sim_cuSurfRefSetArray(h C.CUsurfref, array C.CUarray, flags C.uint) C.CUresult {
	return onSurfaceRef(h, func(c *context, r *surfaceRef) error {
		a, err := c.arrayOf(array)
		switch {
		case err != nil:
			return err
		case flags != 0, a.desc.Flags&C.CUDA_ARRAY3D_SURFACE_LDST == 0:
			return invalidValue
		}
		if err := c.sim.BindSurfaceReference(r.ref, a.sim); err != nil {
			return err
		}
		r.array = a
		return nil
	})
}

//export sim_cuSurfRefGetArray
func sim_cuSurfRefGetArray(out *C.CUarray, h C.CUsurfref) C.CUresult {
	return onSurfaceRef(h, func(_ *context, r *surfaceRef) error {
		if out == nil || r.array == nil {
			return invalidValue
		}
		r.array.handle.put(unsafe.Pointer(out))
		return nil
	})
}
