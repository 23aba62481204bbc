//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
)

// Texture references are the older form of textures: a module declares a .texref variable, which its kernels sample by
// name. The program sets its properties one by one. The settings take effect at the next launch of a kernel of the
// module, which binds all references that have changed (module.bind). Binding waits for work that may sample the
// previous texture.

// textureRef is a texture reference: the settings that a program has made. The
// kernels of a module sample its references. A reference of cuTexRefCreate only
// stores settings.
type textureRef struct {
	module     *module    // the module that declares it, or nil
	ref        device.Ptr // its address, which identifies it in the module
	unbound    bool       // a setting has changed since the last launch
	array      *array
	at         C.CUdeviceptr
	linear     C.size_t                // bytes at at, 0 if rows is set
	rows       C.CUDA_ARRAY_DESCRIPTOR // of 2D memory
	pitch      C.size_t
	format     C.CUarray_format
	channels   C.int
	address    [3]C.CUaddress_mode
	filter     C.CUfilter_mode
	mipmap     C.CUfilter_mode
	bias       C.float
	clamp      [2]C.float
	anisotropy C.uint
	border     [4]C.float
	flags      C.uint
}

// owner is nil for a reference of cuTexRefCreate.
func (r *textureRef) owner() *context {
	if r.module == nil {
		return nil
	}
	return r.module.context
}

var textureRefs handles[*textureRef]

// inRef runs the body with a reference.
func inRef(h C.CUtexref, body func(*textureRef) error) C.CUresult {
	return inContext(func(*context) error {
		r, err := textureRefs.get(of(unsafe.Pointer(h)))
		if err != nil {
			return invalidValue
		}
		return body(r)
	})
}

// change is inRef for a function that changes a setting.
func change(h C.CUtexref, body func(*textureRef) error) C.CUresult {
	return inRef(h, func(r *textureRef) error {
		err := body(r)
		r.unbound = r.unbound || err == nil
		return err
	})
}

// newTextureRef returns a reference with the driver's initial settings.
func newTextureRef() *textureRef {
	return &textureRef{format: C.CU_AD_FORMAT_FLOAT, channels: 1, anisotropy: 1}
}

// set assigns a value that must not exceed last.
func set[T ~uint32](to *T, v, last T) error {
	if v > last {
		return invalidValue
	}
	*to = v
	return nil
}

// store stores a value at a C pointer, which must not be nil.
func store[T any](out *T, v T) error {
	if out == nil {
		return invalidValue
	}
	*out = v
	return nil
}

//export sim_cuTexRefCreate
func sim_cuTexRefCreate(out *C.CUtexref) C.CUresult {
	return inContext(func(*context) error {
		if out == nil {
			return invalidValue
		}
		textureRefs.add(newTextureRef()).put(unsafe.Pointer(out))
		return nil
	})
}

// sim_cuTexRefDestroy destroys a reference of cuTexRefCreate. References of modules are destroyed with their module.
//
//export sim_cuTexRefDestroy
func sim_cuTexRefDestroy(h C.CUtexref) C.CUresult {
	return inRef(h, func(r *textureRef) error {
		if r.module != nil {
			return invalidValue
		}
		_, err := textureRefs.remove(of(unsafe.Pointer(h)))
		return err
	})
}

// sim_cuTexRefSetArray binds an array at the next launch. With CU_TRSA_OVERRIDE_FORMAT, the format becomes that of the
// array.
//
//export sim_cuTexRefSetArray
func sim_cuTexRefSetArray(h C.CUtexref, array C.CUarray, flags C.uint) C.CUresult {
	return change(h, func(r *textureRef) error {
		a, err := arrayOf(array)
		switch {
		case err != nil:
			return err
		case flags&^C.CU_TRSA_OVERRIDE_FORMAT != 0:
			return invalidValue
		}
		r.array, r.at = a, 0
		if flags&C.CU_TRSA_OVERRIDE_FORMAT != 0 {
			r.format, r.channels = a.desc.Format, C.int(a.desc.NumChannels)
		}
		return nil
	})
}

//export sim_cuTexRefSetMipmappedArray
func sim_cuTexRefSetMipmappedArray(h C.CUtexref, array C.CUmipmappedArray, flags C.uint) C.CUresult {
	return change(h, func(*textureRef) error { return notSupported })
}

// textureRoom returns the number of bytes from an address to the end of its
// allocation, and the offset of the address from a multiple of the alignment of
// textures. The start of an allocation counts as aligned: with a driver its offset
// is 0, and programs rely on that, although package sim aligns only to 256 bytes. ok is false if p is not in memory.
func textureRoom(p C.CUdeviceptr) (room, unaligned C.size_t, ok bool) {
	base, size, ok := driver.system.Range(device.Ptr(p))
	off := C.size_t(device.Ptr(p) - base)
	return C.size_t(size) - off, off % pitchAlign, ok
}

// sim_cuTexRefSetAddress_v2 binds linear memory at the next launch. If the address is not aligned, the binding starts
// at the aligned address before it, and the difference in bytes is stored in *offset, which kernels must add.
//
//export sim_cuTexRefSetAddress_v2
func sim_cuTexRefSetAddress_v2(offset *C.size_t, h C.CUtexref, p C.CUdeviceptr, n C.size_t) C.CUresult {
	return change(h, func(r *textureRef) error {
		room, unaligned, ok := textureRoom(p)
		if !ok || n > room || offset == nil && unaligned != 0 {
			return invalidValue
		}
		if offset != nil {
			*offset = unaligned
		}
		r.array, r.at, r.linear = nil, p-C.CUdeviceptr(unaligned), n+unaligned
		return nil
	})
}

//simabi:also cuTexRefSetAddress2D_v2
//export sim_cuTexRefSetAddress2D_v3
func sim_cuTexRefSetAddress2D_v3(h C.CUtexref, d *C.CUDA_ARRAY_DESCRIPTOR, p C.CUdeviceptr, pitch C.size_t) C.CUresult {
	return change(h, func(r *textureRef) error {
		if d == nil {
			return invalidValue
		}
		t, err := texels(d.Format, d.NumChannels, d.Width, d.Height, 0)
		if err != nil {
			return err
		}
		width := int64(t.Width * t.Channels * t.Format.Bytes())
		room, unaligned, ok := textureRoom(p)
		if !ok || d.Width == 0 || d.Height == 0 || pitch > maxPitch || int64(pitch) < width || unaligned != 0 ||
			int64(d.Height-1)*int64(pitch)+width > int64(room) {
			return invalidValue
		}
		r.array, r.at, r.linear, r.rows, r.pitch = nil, p, 0, *d, pitch
		r.format, r.channels = d.Format, C.int(d.NumChannels)
		return nil
	})
}

//export sim_cuTexRefSetFormat
func sim_cuTexRefSetFormat(h C.CUtexref, f C.CUarray_format, channels C.int) C.CUresult {
	return change(h, func(r *textureRef) error {
		if _, err := texels(f, C.uint(channels), 1, 0, 0); err != nil {
			return err
		}
		r.format, r.channels = f, channels
		return nil
	})
}

//export sim_cuTexRefSetAddressMode
func sim_cuTexRefSetAddressMode(h C.CUtexref, dimension C.int, m C.CUaddress_mode) C.CUresult {
	return change(h, func(r *textureRef) error {
		if dimension < 0 || int(dimension) >= len(r.address) {
			return invalidValue
		}
		return set(&r.address[dimension], m, C.CU_TR_ADDRESS_MODE_BORDER)
	})
}

//export sim_cuTexRefSetFilterMode
func sim_cuTexRefSetFilterMode(h C.CUtexref, m C.CUfilter_mode) C.CUresult {
	return change(h, func(r *textureRef) error { return set(&r.filter, m, C.CU_TR_FILTER_MODE_LINEAR) })
}

//export sim_cuTexRefSetMipmapFilterMode
func sim_cuTexRefSetMipmapFilterMode(h C.CUtexref, m C.CUfilter_mode) C.CUresult {
	return change(h, func(r *textureRef) error { return set(&r.mipmap, m, C.CU_TR_FILTER_MODE_LINEAR) })
}

//export sim_cuTexRefSetMipmapLevelBias
func sim_cuTexRefSetMipmapLevelBias(h C.CUtexref, bias C.float) C.CUresult {
	return change(h, func(r *textureRef) error { return store(&r.bias, bias) })
}

//export sim_cuTexRefSetMipmapLevelClamp
func sim_cuTexRefSetMipmapLevelClamp(h C.CUtexref, least, most C.float) C.CUresult {
	return change(h, func(r *textureRef) error { return store(&r.clamp, [2]C.float{least, most}) })
}

//export sim_cuTexRefSetMaxAnisotropy
func sim_cuTexRefSetMaxAnisotropy(h C.CUtexref, n C.uint) C.CUresult {
	return change(h, func(r *textureRef) error { return store(&r.anisotropy, n) })
}

//export sim_cuTexRefSetBorderColor
func sim_cuTexRefSetBorderColor(h C.CUtexref, c *C.float) C.CUresult {
	return change(h, func(r *textureRef) error {
		if c == nil {
			return invalidValue
		}
		r.border = *(*[4]C.float)(unsafe.Pointer(c))
		return nil
	})
}

//export sim_cuTexRefSetFlags
func sim_cuTexRefSetFlags(h C.CUtexref, flags C.uint) C.CUresult {
	return change(h, func(r *textureRef) error {
		if flags&^textureFlags != 0 {
			return invalidValue
		}
		r.flags = flags
		return nil
	})
}

//export sim_cuTexRefGetAddress_v2
func sim_cuTexRefGetAddress_v2(out *C.CUdeviceptr, h C.CUtexref) C.CUresult {
	return inRef(h, func(r *textureRef) error {
		if r.at == 0 {
			return invalidValue
		}
		return store(out, r.at)
	})
}

//export sim_cuTexRefGetArray
func sim_cuTexRefGetArray(out *C.CUarray, h C.CUtexref) C.CUresult {
	return inRef(h, func(r *textureRef) error {
		if out == nil || r.array == nil {
			return invalidValue
		}
		r.array.handle.put(unsafe.Pointer(out))
		return nil
	})
}

//export sim_cuTexRefGetMipmappedArray
func sim_cuTexRefGetMipmappedArray(out *C.CUmipmappedArray, h C.CUtexref) C.CUresult {
	return inRef(h, func(*textureRef) error { return invalidValue }) // references without mipmaps have no such setting
}

//export sim_cuTexRefGetAddressMode
func sim_cuTexRefGetAddressMode(out *C.CUaddress_mode, h C.CUtexref, dimension C.int) C.CUresult {
	return inRef(h, func(r *textureRef) error {
		if dimension < 0 || int(dimension) >= len(r.address) {
			return invalidValue
		}
		return store(out, r.address[dimension])
	})
}

//export sim_cuTexRefGetFilterMode
func sim_cuTexRefGetFilterMode(out *C.CUfilter_mode, h C.CUtexref) C.CUresult {
	return inRef(h, func(r *textureRef) error { return store(out, r.filter) })
}

//export sim_cuTexRefGetFormat
func sim_cuTexRefGetFormat(out *C.CUarray_format, channels *C.int, h C.CUtexref) C.CUresult {
	return inRef(h, func(r *textureRef) error {
		if channels == nil {
			return invalidValue
		}
		*channels = r.channels
		return store(out, r.format)
	})
}

//export sim_cuTexRefGetMipmapFilterMode
func sim_cuTexRefGetMipmapFilterMode(out *C.CUfilter_mode, h C.CUtexref) C.CUresult {
	return inRef(h, func(r *textureRef) error { return store(out, r.mipmap) })
}

//export sim_cuTexRefGetMipmapLevelBias
func sim_cuTexRefGetMipmapLevelBias(out *C.float, h C.CUtexref) C.CUresult {
	return inRef(h, func(r *textureRef) error { return store(out, r.bias) })
}

//export sim_cuTexRefGetMipmapLevelClamp
func sim_cuTexRefGetMipmapLevelClamp(least, most *C.float, h C.CUtexref) C.CUresult {
	return inRef(h, func(r *textureRef) error {
		if least == nil {
			return invalidValue
		}
		*least = r.clamp[0]
		return store(most, r.clamp[1])
	})
}

//export sim_cuTexRefGetMaxAnisotropy
func sim_cuTexRefGetMaxAnisotropy(out *C.int, h C.CUtexref) C.CUresult {
	return inRef(h, func(r *textureRef) error { return store(out, C.int(r.anisotropy)) })
}

//export sim_cuTexRefGetBorderColor
func sim_cuTexRefGetBorderColor(out *C.float, h C.CUtexref) C.CUresult {
	return inRef(h, func(r *textureRef) error { return store((*[4]C.float)(unsafe.Pointer(out)), r.border) })
}

//export sim_cuTexRefGetFlags
func sim_cuTexRefGetFlags(out *C.uint, h C.CUtexref) C.CUresult {
	return inRef(h, func(r *textureRef) error { return store(out, r.flags) })
}
