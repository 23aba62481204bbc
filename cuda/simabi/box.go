//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"math/bits"
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// A box is a part of memory that consists of slices of rows:
//
//	          pitch bytes
//	 ┌────────────────────────────┐ ┐
//	 │   x      width             │ │
//	 │ y ┌────────────┐           │ │ height rows of the memory;
//	 │   │    box     │ height    │ │ the next slice begins pitch*height bytes later
//	 │   └────────────┘           │ │
//	 └────────────────────────────┘ ┘
//
//	byte (i, j, k) of the box is at  start + (z+k)*pitch*height + (y+j)*pitch + x + i
//
// Rows of the box must fit in the pitch, and its rows in a slice, unless it has one row or one slice. All sums are
// checked for overflow, because sizes come from the program. In an array, the device determines pitch and slices, and
// a box consists of whole texels.

// boxSide is one side of a copy of a box, in the form of cuMemcpy2D and cuMemcpy3D.
type boxSide struct {
	kind          C.CUmemorytype
	host          unsafe.Pointer
	device        C.CUdeviceptr
	array         C.CUarray
	x, y, z       C.size_t // position of the box, x in bytes
	pitch, height C.size_t // bytes from row to row, rows from slice to slice
	lod           C.size_t
}

// hostSide returns a side whose address must be in host memory.
func hostSide(p unsafe.Pointer) *boxSide { return &boxSide{kind: C.CU_MEMORYTYPE_HOST, host: p} }

// deviceSide returns a side whose address must be in memory of the driver.
func deviceSide(p C.CUdeviceptr) *boxSide {
	return &boxSide{kind: C.CU_MEMORYTYPE_DEVICE, device: p}
}

// unifiedSide returns a side whose kind of memory follows from its address.
func unifiedSide(p C.CUdeviceptr) *boxSide {
	return &boxSide{kind: C.CU_MEMORYTYPE_UNIFIED, device: p}
}

// arraySide returns a side at an offset in the first row of an array.
func arraySide(h C.CUarray, off C.size_t) *boxSide {
	return &boxSide{kind: C.CU_MEMORYTYPE_ARRAY, array: h, x: off}
}

// resolve returns the start of a box, and its distances of rows and of slices in
// bytes.
func (b *boxSide) resolve(width, height, depth C.size_t) (place, int64, int64, error) {
	if b.lod != 0 {
		return place{}, 0, 0, invalidValue
	}
	if b.kind == C.CU_MEMORYTYPE_ARRAY {
		return b.inArray(width, height, depth)
	}
	w, err := b.start()
	if err != nil {
		return place{}, 0, 0, err
	}
	pitch, rows := b.pitch, b.height
	if pitch == 0 && height == 1 && depth == 1 && b.y == 0 && b.z == 0 {
		pitch = b.x + width // for a single row
	}
	if depth == 1 && b.z == 0 {
		rows = max(rows, b.y+height) // for a single slice
	}
	over, slice := bits.Mul64(uint64(pitch), uint64(rows))
	skip, ok := offset(uint64(b.z), slice, uint64(b.y), uint64(pitch), uint64(b.x))
	if over != 0 || slice > 1<<62 || !ok || b.x+width < width || pitch < b.x+width || b.y+height < height || rows < b.y+height {
		return place{}, 0, 0, invalidValue
	}
	if w.at != 0 {
		w.at += device.Ptr(skip)
	} else {
		w.host = unsafe.Add(w.host, skip)
	}
	return w, int64(pitch), int64(slice), nil
}

// offset returns z*slice + y*pitch + x, or false on overflow.
func offset(z, slice, y, pitch, x uint64) (n uint64, ok bool) {
	o1, a := bits.Mul64(z, slice)
	o2, b := bits.Mul64(y, pitch)
	ok = o1|o2 == 0 && (a|b|x) < 1<<60
	return a + b + x, ok
}

// start returns the start of the memory of a side that is not an array.
func (b *boxSide) start() (place, error) {
	switch b.kind {
	case C.CU_MEMORYTYPE_HOST:
		if b.host == nil {
			return place{}, invalidValue
		}
		return hostPlace(b.host)
	case C.CU_MEMORYTYPE_DEVICE:
		if b.device == 0 {
			return place{}, invalidValue
		}
		return devicePlace(b.device), nil
	case C.CU_MEMORYTYPE_UNIFIED:
		if b.device == 0 {
			return place{}, invalidValue
		}
		return anyPlace(b.device), nil
	}
	return place{}, invalidValue
}

// boxCopy is a copy of a box.
func boxCopy(dst, src *boxSide, width, height, depth C.size_t) (*sim.Transfer, error) {
	if width > 1<<60 || height > 1<<60 || depth > 1<<60 {
		return nil, invalidValue
	}
	t := &sim.Transfer{Width: int64(width), Height: int64(height), Depth: int64(depth)}
	var err error
	if t.Dst, err = dst.region(width, height, depth); err != nil {
		return nil, err
	}
	t.Src, err = src.region(width, height, depth)
	return t, err
}

// region returns the memory of a box of the given size, and its layout.
func (b *boxSide) region(width, height, depth C.size_t) (sim.Region, error) {
	p, pitch, slice, err := b.resolve(width, height, depth)
	if err != nil {
		return sim.Region{}, err
	}
	span, ok := offset(uint64(depth-1), uint64(slice), uint64(height-1), uint64(pitch), uint64(width))
	if !ok {
		return sim.Region{}, invalidValue
	}
	return p.region(int64(span), pitch, slice)
}

// copyBox copies at once or asynchronously. A captured stream gets a node instead.
func copyBox(h C.CUstream, wait bool, dst, src *boxSide, width, height, depth C.size_t) C.CUresult {
	return inStream(h, func(s *stream) error { return s.copyBox(wait, dst, src, width, height, depth) })
}

// copyBox is the body of the function copyBox. A copy of no bytes only returns an earlier fault.
func (s *stream) copyBox(wait bool, dst, src *boxSide, width, height, depth C.size_t) error {
	switch {
	case width == 0 || height == 0 || depth == 0:
		return s.context.sim.Err()
	case s.capture.Capturing() && wait:
		return s.idle()
	case s.capture.Capturing():
		p := params3D(dst, src, width, height, depth)
		n, err := newMemcpyNode(s.context, &p)
		if err != nil {
			return err
		}
		return s.add(n)
	}
	t, err := boxCopy(dst, src, width, height, depth)
	switch {
	case err != nil:
		return err
	case wait:
		return s.copyNow(t)
	}
	return s.copySoon(t)
}

// maxPitch is CU_DEVICE_ATTRIBUTE_MAX_PITCH.
const maxPitch = 1<<31 - 1

// copy2D copies a box of one slice. aligned is set for the forms that limit the pitch.
func copy2D(h C.CUstream, wait, aligned bool, p *C.CUDA_MEMCPY2D) C.CUresult {
	if p == nil || aligned && (p.srcPitch > maxPitch || p.dstPitch > maxPitch) {
		return call(func(*thread) error { return invalidValue })
	}
	dst := boxSide{kind: p.dstMemoryType, host: p.dstHost, device: p.dstDevice, array: p.dstArray, x: p.dstXInBytes, y: p.dstY, pitch: p.dstPitch}
	src := boxSide{kind: p.srcMemoryType, host: p.srcHost, device: p.srcDevice, array: p.srcArray, x: p.srcXInBytes, y: p.srcY, pitch: p.srcPitch}
	return copyBox(h, wait, &dst, &src, p.WidthInBytes, p.Height, 1)
}

// sides3D returns the sides of a copy in the form of cuMemcpy3D or of a graph node.
func sides3D(p *C.CUDA_MEMCPY3D) (dst, src *boxSide) {
	return &boxSide{p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes, p.dstY, p.dstZ, p.dstPitch, p.dstHeight, p.dstLOD},
		&boxSide{p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes, p.srcY, p.srcZ, p.srcPitch, p.srcHeight, p.srcLOD}
}

// params3D is the inverse of sides3D.
func params3D(dst, src *boxSide, width, height, depth C.size_t) C.CUDA_MEMCPY3D {
	return C.CUDA_MEMCPY3D{
		dstMemoryType: dst.kind, dstHost: dst.host, dstDevice: dst.device, dstArray: dst.array,
		dstXInBytes: dst.x, dstY: dst.y, dstZ: dst.z, dstPitch: dst.pitch, dstHeight: dst.height, dstLOD: dst.lod,
		srcMemoryType: src.kind, srcHost: src.host, srcDevice: src.device, srcArray: src.array,
		srcXInBytes: src.x, srcY: src.y, srcZ: src.z, srcPitch: src.pitch, srcHeight: src.height, srcLOD: src.lod,
		WidthInBytes: width, Height: height, Depth: depth,
	}
}

// copy3D copies a box of several slices.
func copy3D(h C.CUstream, wait bool, p *C.CUDA_MEMCPY3D) C.CUresult {
	if p == nil {
		return call(func(*thread) error { return invalidValue })
	}
	dst, src := sides3D(p)
	return copyBox(h, wait, dst, src, p.WidthInBytes, p.Height, p.Depth)
}

//export sim_cuMemcpy2D_v2
func sim_cuMemcpy2D_v2(p *C.CUDA_MEMCPY2D) C.CUresult { return copy2D(nil, true, true, p) }

//export sim_cuMemcpy2DUnaligned_v2
func sim_cuMemcpy2DUnaligned_v2(p *C.CUDA_MEMCPY2D) C.CUresult { return copy2D(nil, true, false, p) }

//export sim_cuMemcpy2DAsync_v2
func sim_cuMemcpy2DAsync_v2(p *C.CUDA_MEMCPY2D, h C.CUstream) C.CUresult {
	return copy2D(h, false, true, p)
}

//export sim_cuMemcpy3D_v2
func sim_cuMemcpy3D_v2(p *C.CUDA_MEMCPY3D) C.CUresult { return copy3D(nil, true, p) }

//export sim_cuMemcpy3DAsync_v2
func sim_cuMemcpy3DAsync_v2(p *C.CUDA_MEMCPY3D, h C.CUstream) C.CUresult { return copy3D(h, false, p) }
