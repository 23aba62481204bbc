//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/texel"
)

// A texture object joins texels and a way to sample them:
//
//	CUDA_RESOURCE_DESC  array, linear memory, or rows of memory ──┐
//	CUDA_TEXTURE_DESC   address modes, filter, normalization ─────┴─► texel.Desc ─► sim.CreateTexture ─► number
//
// The number is the parameter that kernels pass to tex instructions. A surface object is an array that kernels load
// from and store to without sampling.

// textures and surfaces are the live objects. They are identified not by a handle but by the
// number that kernels take as a parameter.
var (
	textures = objects[C.CUtexObject, *texture]{}
	surfaces = objects[C.CUsurfObject, *surface]{}
)

// objects maps the numbers of live objects to their properties.
type objects[H comparable, T owned] map[H]T

func init() { kinds = append(kinds, textures, surfaces) }

func (o objects[H, T]) forget(c *context) {
	for h, v := range o {
		if v.owner() == c {
			delete(o, h)
		}
	}
}

// texture is an array of texels and the way to sample it.
type texture struct {
	context  *context
	resource C.CUDA_RESOURCE_DESC
	desc     C.CUDA_TEXTURE_DESC
}

func (t *texture) owner() *context { return t.context }

// surface is an array of texels that kernels can store to.
type surface struct {
	context  *context
	resource C.CUDA_RESOURCE_DESC
}

func (s *surface) owner() *context { return s.context }

// The variants of the union in a resource's description.
type (
	arrayResource  struct{ array C.CUarray }
	linearResource struct {
		at       C.CUdeviceptr
		format   C.CUarray_format
		channels C.uint
		bytes    C.size_t
	}
	pitchResource struct {
		at            C.CUdeviceptr
		format        C.CUarray_format
		channels      C.uint
		width, height C.size_t
		pitch         C.size_t
	}
)

// over sets the resource in a texture's description and returns the format of its channels.
func (c *context) over(r *C.CUDA_RESOURCE_DESC, d *texel.Desc) (C.CUarray_format, error) {
	if r.flags != 0 {
		return 0, invalidValue
	}
	var err error
	switch union := unsafe.Pointer(&r.res); r.resType {
	case C.CU_RESOURCE_TYPE_ARRAY:
		a, err := c.arrayOf((*arrayResource)(union).array)
		if err != nil {
			return 0, err
		}
		d.Array = a.sim
		return a.desc.Format, nil
	case C.CU_RESOURCE_TYPE_LINEAR:
		l := (*linearResource)(union)
		if d.Layout, err = texels(l.format, l.channels, 1, 0, 0); err != nil {
			return 0, err
		}
		d.Memory, d.Layout.Width = device.Ptr(l.at), int(min(l.bytes, 1<<40))/(d.Layout.Channels*d.Layout.Format.Bytes())
		return l.format, nil
	case C.CU_RESOURCE_TYPE_PITCH2D:
		p := (*pitchResource)(union)
		if p.height == 0 || p.pitch > maxPitch {
			return 0, invalidValue
		}
		d.Layout, err = texels(p.format, p.channels, p.width, p.height, 0)
		d.Memory, d.Pitch = device.Ptr(p.at), int64(p.pitch)
		return p.format, err
	case C.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		return 0, notSupported
	}
	return 0, invalidValue
}

// arrayOf returns the array of a handle, if it is in the context.
func (c *context) arrayOf(h C.CUarray) (*array, error) {
	a, err := arrayOf(h)
	if err == nil && a.context != c {
		err = invalidHandle
	}
	return a, err
}

const textureFlags = C.CU_TRSF_READ_AS_INTEGER | C.CU_TRSF_NORMALIZED_COORDINATES | C.CU_TRSF_SRGB | C.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | C.CU_TRSF_SEAMLESS_CUBEMAP

// sampling sets the way of sampling in a texture's description. Without mipmaps,
// their part of the description and anisotropy have no effect.
func sampling(t *C.CUDA_TEXTURE_DESC, f C.CUarray_format, d *texel.Desc) error {
	switch {
	case t.flags&^textureFlags != 0, t.filterMode > C.CU_TR_FILTER_MODE_LINEAR, t.mipmapFilterMode > C.CU_TR_FILTER_MODE_LINEAR, t.maxAnisotropy > 16:
		return invalidValue
	case t.flags&C.CU_TRSF_SRGB != 0:
		return notSupported
	}
	for i, m := range t.addressMode {
		if m > C.CU_TR_ADDRESS_MODE_BORDER {
			return invalidValue
		}
		d.Address[i] = texel.AddressMode(m)
	}
	d.Linear = t.filterMode == C.CU_TR_FILTER_MODE_LINEAR
	d.Normalized = t.flags&C.CU_TRSF_NORMALIZED_COORDINATES != 0
	format := texelFormats[f]
	d.ReadNormalized = t.flags&C.CU_TRSF_READ_AS_INTEGER == 0 && !format.Float() && format.Bytes() < 4
	for i, v := range t.borderColor {
		d.Border[i] = float32(v)
	}
	return nil
}

// sim_cuTexObjectCreate creates a texture without a view of another format. Mipmaps are not simulated.
//
//export sim_cuTexObjectCreate
func sim_cuTexObjectCreate(out *C.CUtexObject, r *C.CUDA_RESOURCE_DESC, t *C.CUDA_TEXTURE_DESC, view *C.CUDA_RESOURCE_VIEW_DESC) C.CUresult {
	return inContext(func(c *context) error {
		if out == nil || r == nil || t == nil {
			return invalidValue
		}
		if view != nil && view.format != C.CU_RES_VIEW_FORMAT_NONE {
			return notSupported
		}
		var d texel.Desc
		f, err := c.over(r, &d)
		if err != nil {
			return err
		}
		if err := sampling(t, f, &d); err != nil {
			return err
		}
		h, err := c.sim.CreateTexture(d)
		if err != nil {
			return err
		}
		*out = C.CUtexObject(h)
		textures[*out] = &texture{c, *r, *t}
		return nil
	})
}

// object runs the body with the object of a number, or returns INVALID_VALUE.
func object[H comparable, T owned](o objects[H, T], h H, out unsafe.Pointer, body func(T) error) C.CUresult {
	return onNamed(func(*thread) error {
		v, ok := o[h]
		if !ok || out == nil {
			return invalidValue
		}
		return body(v)
	})
}

//export sim_cuTexObjectDestroy
func sim_cuTexObjectDestroy(h C.CUtexObject) C.CUresult {
	return object(textures, h, unsafe.Pointer(&h), func(t *texture) error {
		delete(textures, h)
		return t.context.sim.DestroyTexture(texel.Texture(h))
	})
}

//export sim_cuTexObjectGetResourceDesc
func sim_cuTexObjectGetResourceDesc(out *C.CUDA_RESOURCE_DESC, h C.CUtexObject) C.CUresult {
	return object(textures, h, unsafe.Pointer(out), func(t *texture) error {
		*out = t.resource
		return nil
	})
}

//export sim_cuTexObjectGetTextureDesc
func sim_cuTexObjectGetTextureDesc(out *C.CUDA_TEXTURE_DESC, h C.CUtexObject) C.CUresult {
	return object(textures, h, unsafe.Pointer(out), func(t *texture) error {
		*out = t.desc
		return nil
	})
}

// sim_cuTexObjectGetResourceViewDesc refuses every texture, since none has a view.
//
//export sim_cuTexObjectGetResourceViewDesc
func sim_cuTexObjectGetResourceViewDesc(out *C.CUDA_RESOURCE_VIEW_DESC, h C.CUtexObject) C.CUresult {
	return object(textures, h, unsafe.Pointer(out), func(*texture) error { return invalidValue })
}

// sim_cuSurfObjectCreate requires an array that was created for stores by kernels (CUDA_ARRAY3D_SURFACE_LDST).
//
//export sim_cuSurfObjectCreate
func sim_cuSurfObjectCreate(out *C.CUsurfObject, r *C.CUDA_RESOURCE_DESC) C.CUresult {
	return inContext(func(c *context) error {
		if out == nil || r == nil || r.resType != C.CU_RESOURCE_TYPE_ARRAY || r.flags != 0 {
			return invalidValue
		}
		a, err := c.arrayOf((*arrayResource)(unsafe.Pointer(&r.res)).array)
		if err != nil {
			return err
		}
		if a.desc.Flags&C.CUDA_ARRAY3D_SURFACE_LDST == 0 {
			return invalidValue
		}
		h, err := c.sim.CreateSurface(a.sim)
		if err != nil {
			return err
		}
		*out = C.CUsurfObject(h)
		surfaces[*out] = &surface{c, *r}
		return nil
	})
}

//export sim_cuSurfObjectDestroy
func sim_cuSurfObjectDestroy(h C.CUsurfObject) C.CUresult {
	return object(surfaces, h, unsafe.Pointer(&h), func(s *surface) error {
		delete(surfaces, h)
		return s.context.sim.DestroySurface(texel.Surface(h))
	})
}

//export sim_cuSurfObjectGetResourceDesc
func sim_cuSurfObjectGetResourceDesc(out *C.CUDA_RESOURCE_DESC, h C.CUsurfObject) C.CUresult {
	return object(surfaces, h, unsafe.Pointer(out), func(s *surface) error {
		*out = s.resource
		return nil
	})
}
