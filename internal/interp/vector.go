package interp

import (
	"math/bits"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Vector accesses of whole registers are frequent in loops over tiles. They find the
// address of each lane's vector first, and then move one register after another, so that
// the inner loop is over the lanes of one register:
//
//	ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]
//
//	memory   lane 0: f1 f2 f3 f4 │ lane 1: f1 f2 f3 f4 │ …
//	file     %f1 of lanes 0 … 31 │ %f2 of lanes 0 … 31 │ …

// places finds the host addresses of the live lanes' vectors, and counts their sectors. It
// returns false after a fault.
func (w *warp) places(in *inst, at *[lanes]unsafe.Pointer) bool {
	n := in.x.bytes()
	if in.x.space == ptx.Shared {
		return w.sharedPlaces(in, n, at)
	}
	a := view[uint64](w, in.a)
	// One translation of the address for the whole warp.
	if w.live == allLanes {
		if p := w.contiguous(in, a, n); p != nil {
			for i := range lanes {
				at[i] = unsafe.Add(p, uintptr(i)*uintptr(n))
			}
			return true
		}
	}
	var sectors sectorSet
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		addr := a[i] + in.imm
		if at[i] = w.locate(in, addr, n, i); at[i] == nil {
			return false
		}
		sectors.add(addr, n)
	}
	w.account(in.x.kind, sectors.count)
	return true
}

// sharedPlaces is places for shared memory.
func (w *warp) sharedPlaces(in *inst, n uint64, at *[lanes]unsafe.Pointer) bool {
	limit := w.sharedSize - n
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		addr := w.address(in, i)
		if addr&(n-1) != 0 || addr > limit || w.sharedSize < n {
			w.locate(in, addr, n, i)
			return false
		}
		at[i] = unsafe.Add(w.shared, uintptr(addr))
	}
	return true
}

// loadVector loads registers of T.
//
//go:norace
func loadVector[T uint32 | uint64](w *warp, in *inst) {
	var at [lanes]unsafe.Pointer
	if !w.places(in, &at) {
		return
	}
	for k, e := range in.x.elems {
		d, off := view[T](w, e.reg), uintptr(k)*unsafe.Sizeof(T(0))
		if w.live == allLanes {
			for i := range lanes {
				d[i] = *(*T)(unsafe.Add(at[i], off))
			}
			continue
		}
		for m := w.live; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = *(*T)(unsafe.Add(at[i], off))
		}
	}
}

// storeVector stores registers of T. If several lanes store to one address, all
// elements of the last lane remain.
//
//go:norace
func storeVector[T uint32 | uint64](w *warp, in *inst) {
	w.polls = 0
	var at [lanes]unsafe.Pointer
	if !w.places(in, &at) {
		return
	}
	// For each register the element of the last lane remains, so that all elements are of
	// one lane.
	for k, e := range in.x.elems {
		v, off := view[T](w, e.reg), uintptr(k)*unsafe.Sizeof(T(0))
		for m := w.live; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			*(*T)(unsafe.Add(at[i], off)) = v[i]
		}
	}
}

// wholeVector reports whether an access moves whole registers, none of them the sink,
// from or to shared or global memory.
func (x *extra) wholeVector() bool {
	if len(x.elems) < 2 || x.space != ptx.Shared && (x.space != ptx.Global || x.addr32) {
		return false
	}
	for _, e := range x.elems {
		if e.reg == noSlot || e.size != x.size || e.size < 4 {
			return false
		}
	}
	return true
}
