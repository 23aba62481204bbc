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

var arrays handles[*array]

// array is an array of texels in a layout of the driver.
type array struct {
	handle  handle
	context *context
	desc    C.CUDA_ARRAY3D_DESCRIPTOR
	sim     texel.Array
}

func (a *array) owner() *context { return a.context }

// arrayOf returns the live array of a handle, in any context.
func arrayOf(h C.CUarray) (*array, error) { return arrays.get(of(unsafe.Pointer(h))) }

// texelFormats are the formats of channels; planar, compressed and normalized ones are
// not simulated.
var texelFormats = map[C.CUarray_format]texel.Format{
	C.CU_AD_FORMAT_UNSIGNED_INT8: texel.U8, C.CU_AD_FORMAT_UNSIGNED_INT16: texel.U16,
	C.CU_AD_FORMAT_UNSIGNED_INT32: texel.U32, C.CU_AD_FORMAT_SIGNED_INT8: texel.S8,
	C.CU_AD_FORMAT_SIGNED_INT16: texel.S16, C.CU_AD_FORMAT_SIGNED_INT32: texel.S32,
	C.CU_AD_FORMAT_HALF: texel.F16, C.CU_AD_FORMAT_FLOAT: texel.F32,
}

// texels returns the layout for a format and extents, without layers.
func texels(f C.CUarray_format, channels C.uint, width, height, depth C.size_t) (texel.Layout, error) {
	format, ok := texelFormats[f]
	switch {
	case f == 0, channels != 1 && channels != 2 && channels != 4:
		return texel.Layout{}, invalidValue
	case !ok:
		return texel.Layout{}, notSupported
	case width > 1<<32 || height > 1<<32 || depth > 1<<32:
		return texel.Layout{}, invalidValue
	}
	return texel.Layout{Format: format, Channels: int(channels), Width: int(width), Height: int(height), Depth: int(depth)}, nil
}

const (
	layeredFlags = C.CUDA_ARRAY3D_LAYERED | C.CUDA_ARRAY3D_CUBEMAP
	// plainFlags request abilities that all arrays have here.
	plainFlags = C.CUDA_ARRAY3D_SURFACE_LDST | C.CUDA_ARRAY3D_TEXTURE_GATHER | C.CUDA_ARRAY3D_COLOR_ATTACHMENT
)

// layout returns the layout of an array with the given description.
func layout(d *C.CUDA_ARRAY3D_DESCRIPTOR) (texel.Layout, error) {
	t, err := texels(d.Format, d.NumChannels, d.Width, d.Height, d.Depth)
	switch {
	case err != nil:
		return t, err
	case d.Flags&^(layeredFlags|plainFlags|C.CUDA_ARRAY3D_DEPTH_TEXTURE|C.CUDA_ARRAY3D_SPARSE|C.CUDA_ARRAY3D_DEFERRED_MAPPING) != 0:
		return t, invalidValue
	case d.Flags&^(layeredFlags|plainFlags) != 0:
		return t, notSupported
	case d.Flags&layeredFlags == 0:
		return t, nil
	case d.Depth == 0, d.Flags&layeredFlags == C.CUDA_ARRAY3D_CUBEMAP && d.Depth != 6:
		return t, invalidValue
	}
	t.Layers, t.Depth, t.Cube = t.Depth, 0, d.Flags&C.CUDA_ARRAY3D_CUBEMAP != 0
	return t, nil
}

// createArray creates an array and stores its handle.
func (c *context) createArray(out *C.CUarray, d *C.CUDA_ARRAY3D_DESCRIPTOR) error {
	t, err := layout(d)
	if err != nil {
		return err
	}
	a := &array{context: c, desc: *d}
	if a.sim, err = c.sim.CreateArray(t); err != nil {
		return err
	}
	a.handle = arrays.add(a)
	a.handle.put(unsafe.Pointer(out))
	return nil
}

//export sim_cuArrayCreate_v2
func sim_cuArrayCreate_v2(out *C.CUarray, d *C.CUDA_ARRAY_DESCRIPTOR) C.CUresult {
	return inContextUnsafe(func(c *context) error {
		if out == nil || d == nil {
			return invalidValue
		}
		return c.createArray(out, &C.CUDA_ARRAY3D_DESCRIPTOR{Width: d.Width, Height: d.Height, Format: d.Format, NumChannels: d.NumChannels})
	})
}

// sim_cuArray3DCreate_v2 creates an array with one to three dimensions, layers, or the six faces of a cube. Sparse
// arrays, deferred mappings and depth textures are refused as not supported, unknown flags as invalid.
//
//export sim_cuArray3DCreate_v2
func sim_cuArray3DCreate_v2(out *C.CUarray, d *C.CUDA_ARRAY3D_DESCRIPTOR) C.CUresult {
	return inContextUnsafe(func(c *context) error {
		if out == nil || d == nil {
			return invalidValue
		}
		return c.createArray(out, d)
	})
}

// sim_cuArrayGetDescriptor_v2 refuses an array with a depth, which its result cannot describe.
//
//export sim_cuArrayGetDescriptor_v2
func sim_cuArrayGetDescriptor_v2(out *C.CUDA_ARRAY_DESCRIPTOR, h C.CUarray) C.CUresult {
	return onNamed(func(*thread) error {
		a, err := arrayOf(h)
		switch {
		case err != nil:
			return err
		case out == nil || a.desc.Depth != 0:
			return invalidValue
		}
		*out = C.CUDA_ARRAY_DESCRIPTOR{Width: a.desc.Width, Height: a.desc.Height, Format: a.desc.Format, NumChannels: a.desc.NumChannels}
		return nil
	})
}

//export sim_cuArray3DGetDescriptor_v2
func sim_cuArray3DGetDescriptor_v2(out *C.CUDA_ARRAY3D_DESCRIPTOR, h C.CUarray) C.CUresult {
	return onNamed(func(*thread) error {
		a, err := arrayOf(h)
		switch {
		case err != nil:
			return err
		case out == nil:
			return invalidValue
		}
		*out = a.desc
		return nil
	})
}

//export sim_cuArrayDestroy
func sim_cuArrayDestroy(h C.CUarray) C.CUresult {
	return onNamedUnsafe(func() error {
		a, err := arrayOf(h)
		if err != nil {
			return err
		}
		if err := a.context.sim.DestroyArray(a.sim); err != nil {
			return err
		}
		_, err = arrays.remove(a.handle)
		return err
	})
}

// extent is a number of bytes, rows and slices.
type extent struct{ width, height, depth int64 }

// region returns the memory of an array, and its numbers of bytes, rows and slices
// (or layers).
func (a *array) region() (sim.Region, extent, error) {
	r, t, err := a.context.sim.ArrayRegion(a.sim)
	return r, extent{int64(t.Width * t.Channels * t.Format.Bytes()), int64(max(t.Height, 1)), int64(max(t.Depth, t.Layers, 1))}, err
}

// texelBytes returns the size of a texel.
func (a *array) texelBytes() C.size_t {
	return C.size_t(texelFormats[a.desc.Format].Bytes()) * C.size_t(a.desc.NumChannels)
}

// inArray is resolve for an array, in which a box consists of whole texels.
func (b *boxSide) inArray(width, height, depth C.size_t) (place, int64, int64, error) {
	fail := func(err error) (place, int64, int64, error) { return place{}, 0, 0, err }
	a, err := arrayOf(b.array)
	if err != nil {
		return fail(err)
	}
	r, all, err := a.region()
	if err != nil {
		return fail(err)
	}
	if b.x%a.texelBytes() != 0 || width%a.texelBytes() != 0 ||
		!inside(b.x, width, all.width) || !inside(b.y, height, all.height) || !inside(b.z, depth, all.depth) {
		return fail(invalidValue)
	}
	at := r.At + device.Ptr(int64(b.z)*r.Slice+int64(b.y)*r.Pitch+int64(b.x))
	return place{at: at}, r.Pitch, r.Slice, nil
}

// inside reports whether the range of n from an offset on is within all.
func inside(from, n C.size_t, all int64) bool {
	return from <= C.size_t(all) && n <= C.size_t(all)-from
}

//export sim_cuArrayGetMemoryRequirements
func sim_cuArrayGetMemoryRequirements(out *C.CUDA_ARRAY_MEMORY_REQUIREMENTS, h C.CUarray, dev C.CUdevice) C.CUresult {
	return onNamed(func(*thread) error {
		a, err := arrayOf(h)
		if err != nil {
			return err
		}
		if _, err := gpuOf(dev); err != nil || out == nil {
			return invalidValue
		}
		r, all, err := a.region()
		if err != nil {
			return err
		}
		*out = C.CUDA_ARRAY_MEMORY_REQUIREMENTS{size: C.size_t(r.Slice * all.depth), alignment: pitchAlign}
		return nil
	})
}
