package interp

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// access describes a load, a store or an atomic operation.
//
// Handlers of accesses to global memory try three paths, the fastest first:
//
//	contiguous   all 32 lanes, adjacent elements: one translation of the address
//	row          runs of lanes with adjacent or equal addresses: one translation per run
//	locate       lane by lane, with the fault of the first bad one
//
// An address is translated with the allocation that the same instruction used last, see
// engine.cache.
type access struct {
	space        ptx.Space // Global, Shared, Local, ParamSpace or Generic
	size         int       // bytes of one element
	signed       bool      // elements are sign-extended to their registers
	addr32       bool      // the address register has 32 bits
	watched      bool      // a load that may read what another block stored
	kind         accessKind
	atomic       string    // the kind of an atomic operation, "add.f32"
	strong       bool      // atomic or volatile: no race with other strong accesses
	synchronises bool      // code may use it to wait for other threads
	read         bool      // an update whose result is used
	once         bool      // an update that one lane makes for the warp
	constant     bool      // a load from constant memory, whose space is Global
	ignoresOld   bool      // an update that ignores the old value
	draws        bool      // an update by which blocks draw numbers: see Kernel.sharesWork
	memory       bool      // the instruction is an access; other instructions use this struct too
	elems        []element // registers loaded or stored
}

// accessKind orders the kinds of accesses; values index the bitmaps of a page.
type accessKind uint8

// The kinds of accesses.
const (
	loads   accessKind = iota // ld, tex and other reads
	stores                    // st and other writes
	updates                   // atom and red
)

// accessNames are the kinds in the texts of faults.
var accessNames = [...]string{loads: "load", stores: "store", updates: "atomic operation"}

// element is one register of a vector access.
type element struct {
	reg  slot // noSlot for the sink "_"
	size int  // bytes of the register
}

// isGlobal reports whether the access reaches global memory at addr.
func (x *access) isGlobal(addr uint64) bool {
	return x.space == ptx.Global ||
		x.space == ptx.Generic && addr-sharedWindow >= windowSize && addr-localWindow >= windowSize
}

// bytes returns the size of one lane's access.
func (x *access) bytes() uint64 { return uint64(x.size * len(x.elems)) }

// sectorSet counts the distinct 32-byte sectors of one warp access: the transactions that
// coalescing leaves. It is a hash table with open addressing. Sector numbers are stored
// plus one, since 0 marks a free slot. It cannot overflow: each of 32 lanes touches at most
// two sectors.
type sectorSet struct {
	table [64]uint64
	last  uint64
	count int64
}

// add adds the sectors of n bytes at addr, n <= 32: the first and the last.
func (s *sectorSet) add(addr, n uint64) {
	s.one(addr>>5 + 1)
	if end := (addr+n-1)>>5 + 1; end != s.last {
		s.one(end)
	}
}

// one adds a sector, given by its number plus one. Successive equal sectors are the most
// frequent case.
func (s *sectorSet) one(sector uint64) {
	if sector == s.last {
		return
	}
	s.last = sector
	for h := sector & 63; ; h = (h + 1) & 63 {
		switch s.table[h] {
		case sector:
			return
		case 0:
			s.table[h] = sector
			s.count++
			return
		}
	}
}

// account adds the sectors of an access to the launch's counters.
func (w *warp) account(kind accessKind, n int64) {
	if kind != stores {
		w.eng.count.read += n
	}
	if kind != loads {
		w.eng.count.written += n
	}
}

// address returns the byte address that a lane accesses.
func (w *warp) address(in *inst, lane int) uint64 {
	if in.x.addr32 {
		return uint64(view[uint32](w, in.a)[lane] + uint32(in.imm)) // a 32-bit address wraps
	}
	return view[uint64](w, in.a)[lane] + in.imm
}

// locate returns the host address of n bytes at addr, or nil after a fault. n is a power of
// two, the required alignment. A generic address is resolved by its window:
//
//	[sharedWindow, +4 GiB)   the block's shared memory, at the offset
//	[localWindow, +4 GiB)    the lane's local memory
//	[paramWindow, +4 GiB)    the parameter block, for loads only
//	other addresses          an allocation of global memory
func (w *warp) locate(in *inst, addr, n uint64, lane int) unsafe.Pointer {
	if addr&(n-1) != 0 {
		w.fail(Misaligned, in, lane, addr, fmt.Sprintf("%s of %d bytes at %s%#x: the address is not a multiple of %d",
			accessNames[in.x.kind], n, spaceName(in.x.space), addr, n))
		return nil
	}
	switch in.x.space {
	case ptx.Shared:
		return w.window(in, "shared", w.shared, addr, n, w.sharedSize, addr, lane)
	case ptx.Local:
		return w.localAt(in, addr, n, addr, lane)
	case ptx.ParamSpace:
		return w.window(in, "parameter", w.eng.params, addr, n, uint64(w.kernel.paramBytes), addr, lane)
	case ptx.Generic:
		switch {
		case addr-sharedWindow < windowSize:
			return w.window(in, "shared", w.shared, addr-sharedWindow, n, w.sharedSize, addr, lane)
		case addr-localWindow < windowSize:
			return w.localAt(in, addr-localWindow, n, addr, lane)
		case addr-paramWindow < windowSize && in.x.kind == loads:
			return w.window(in, "parameter", w.eng.params, addr-paramWindow, n, uint64(w.kernel.paramBytes), addr, lane)
		}
	}
	return w.global(in, addr, n, lane)
}

// spaceName returns the name of a state space with a space behind it, or "" for global
// memory.
func spaceName(s ptx.Space) string {
	if s == ptx.Global || s == ptx.Generic {
		return ""
	}
	return s.String() + " "
}

// window checks an offset into the memory of a block or a thread.
func (w *warp) window(in *inst, name string, base unsafe.Pointer, off, n, size, addr uint64, lane int) unsafe.Pointer {
	if off <= size && n <= size-off {
		return unsafe.Add(base, uintptr(off))
	}
	where := fromEnd(off, size)
	before := int64(off)
	if in.x.addr32 {
		before = int64(int32(off))
	}
	if before < 0 {
		where = count(uint64(-before), "byte") + " before the start"
	}
	w.fail(IllegalAddress, in, lane, addr, fmt.Sprintf("%s of %s at %s offset %#x: %s of the %s of %s memory",
		accessNames[in.x.kind], count(n, "byte"), name, off, where, count(size, "byte"), name))
	return nil
}

// localAt returns the host address of n bytes at an offset in a lane's local memory, or nil
// after a fault. The limit is the end of the lane's stack if it has one.
func (w *warp) localAt(in *inst, off, n, addr uint64, lane int) unsafe.Pointer {
	size := uint64(w.kernel.localSize)
	if w.calls != nil {
		size = w.calls[lane].top
	}
	base := unsafe.Add(w.local, lane*w.localStride)
	return w.window(in, "local", base, off, n, size, addr, lane)
}

// global translates a global address. It tries the allocation that this access site
// used last.
func (w *warp) global(in *inst, addr, n uint64, lane int) unsafe.Pointer {
	r := w.cache[in.site]
	if r == nil || !r.holds(addr, n) {
		if r = w.refill(in, addr, n); r == nil {
			w.fail(IllegalAddress, in, lane, addr, fmt.Sprintf("%s of %s at %#x: %s",
				accessNames[in.x.kind], count(n, "byte"), addr, w.eng.mem.nearest(addr)))
			return nil
		}
	}
	if w.tracking {
		w.eng.mark(r, addr-r.base, n, in.x.kind)
	}
	return unsafe.Add(r.data, uintptr(addr-r.base))
}

// refill looks up an address, caches the allocation at the site and records it as
// touched. A site that keeps hitting its cache needs no further record; for managed
// memory the record is per page.
func (w *warp) refill(in *inst, addr, n uint64) *reach {
	a := w.eng.mem.findFor(in.x.kind, addr, n)
	if a == nil {
		return nil
	}
	r := w.eng.touch(a, in.x.kind)
	if a.managed {
		r.visit(addr, n)
	}
	w.cache[in.site] = r
	return r
}

// trailing returns the lowest lane of m.
func trailing(m uint32) int { return bits.TrailingZeros32(m) & (lanes - 1) }

// contiguous returns the host address of 32 adjacent elements of size bytes, starting at
// lane 0's address. It returns nil if the lanes' addresses are not adjacent, not aligned,
// or not in one allocation; the caller then takes another path, which finds a fault if
// there is one.
func (w *warp) contiguous(in *inst, a *[lanes]uint64, size uint64) unsafe.Pointer {
	first := a[0]
	// Differences are collected without a branch; one test follows.
	var differ uint64
	for i := range lanes {
		differ |= a[i] ^ (first + uint64(i)*size)
	}
	first += in.imm
	if differ != 0 || first&(size-1) != 0 {
		return nil
	}
	r := w.cache[in.site]
	if r == nil || !r.holds(first, lanes*size) {
		if r = w.refill(in, first, lanes*size); r == nil {
			return nil
		}
	}
	if w.tracking {
		w.eng.mark(r, first-r.base, lanes*size, in.x.kind)
	}
	w.account(in.x.kind, int64((first+lanes*size-1)>>5-first>>5)+1)
	return unsafe.Add(r.data, uintptr(first-r.base))
}

// span returns the number of live lanes from i on that access adjacent elements, or all the
// same element, and the distance of their addresses: the element size, or 0.
func span(live uint32, a *[lanes]uint64, i int, size uint64) (n int, step uint64) {
	n = 1
	if i+1 == lanes || live>>(i+1)&1 == 0 {
		return 1, 0
	}
	if step = a[i+1] - a[i]; step != size && step != 0 {
		return 1, 0
	}
	for i+n < lanes && live>>(i+n)&1 == 1 && a[i+n]-a[i+n-1] == step {
		n++
	}
	return n, step
}

// row returns the host address of a run of elements, bytes long, that starts at addr, or
// nil after a fault. lane is the lane of the first element. The sectors of the run are
// added to sectors.
func (w *warp) row(in *inst, addr, size, bytes uint64, lane int, sectors *sectorSet) unsafe.Pointer {
	r := w.cache[in.site]
	if r == nil || !r.holds(addr, bytes) || addr&(size-1) != 0 {
		if r = w.refill(in, addr, bytes); r == nil || addr&(size-1) != 0 {
			return w.brokenRow(in, addr, size, lane)
		}
	}
	if w.tracking {
		w.eng.mark(r, addr-r.base, bytes, in.x.kind)
	}
	for s := addr >> 5; s <= (addr+bytes-1)>>5; s++ {
		sectors.one(s + 1)
	}
	return unsafe.Add(r.data, uintptr(addr-r.base))
}

// brokenRow finds the lane whose access causes the fault.
func (w *warp) brokenRow(in *inst, addr, size uint64, lane int) unsafe.Pointer {
	for ; ; addr, lane = addr+size, lane+1 {
		if w.locate(in, addr, size, lane) == nil {
			return nil
		}
	}
}

// loadGlobal loads one element of the register's width from global memory, by the first
// path that applies: contiguous, or row for each run of lanes.
//
//go:norace
func loadGlobal[T uint32 | uint64](w *warp, in *inst) {
	d, a := view[T](w, in.d), view[uint64](w, in.a)
	size := uint64(unsafe.Sizeof(d[0]))
	if w.live == allLanes {
		if p := w.contiguous(in, a, size); p != nil {
			*d = *(*[lanes]T)(p)
			return
		}
	}
	var sectors sectorSet
	for m := w.live; m != 0; {
		i := trailing(m)
		n, step := span(m, a, i, size)
		p := w.row(in, a[i]+in.imm, size, uint64(n-1)*step+size, i, &sectors)
		if p == nil {
			return
		}
		for k := range n {
			d[(i+k)&31] = *(*T)(unsafe.Add(p, uintptr(k)*uintptr(step)))
		}
		// Remove the lanes of this run and those before it.
		m &= ^uint32(0) << (i + n)
	}
	w.eng.count.read += sectors.count
}

// storeGlobal stores one element of the register's width. Lanes that store to the same
// address do so in ascending order.
//
//go:norace
func storeGlobal[T uint32 | uint64](w *warp, in *inst) {
	v, a := view[T](w, in.d), view[uint64](w, in.a)
	size := uint64(unsafe.Sizeof(v[0]))
	w.polls = 0
	if w.live == allLanes {
		if p := w.contiguous(in, a, size); p != nil {
			*(*[lanes]T)(p) = *v
			return
		}
	}
	var sectors sectorSet
	for m := w.live; m != 0; {
		i := trailing(m)
		n, step := span(m, a, i, size)
		p := w.row(in, a[i]+in.imm, size, uint64(n-1)*step+size, i, &sectors)
		if p == nil {
			return
		}
		for k := range n {
			*(*T)(unsafe.Add(p, uintptr(k)*uintptr(step))) = v[(i+k)&31]
		}
		m &= ^uint32(0) << (i + n)
	}
	w.eng.count.written += sectors.count
}

// loadShared loads one element of the register's width from shared memory.
func loadShared[A, T uint32 | uint64](w *warp, in *inst) {
	d, a := view[T](w, in.d), view[A](w, in.a)
	size := uint64(unsafe.Sizeof(d[0]))
	// The subtraction may wrap for a block with less shared memory than an element; the
	// test below covers that.
	limit := w.sharedSize - size
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		addr := uint64(a[i] + A(in.imm))
		if addr&(size-1) != 0 || addr > limit || w.sharedSize < size {
			w.locate(in, addr, size, i)
			return
		}
		d[i] = *(*T)(unsafe.Add(w.shared, uintptr(addr)))
	}
}

// storeShared stores one element of the register's width to shared memory, by ascending
// lanes.
func storeShared[A, T uint32 | uint64](w *warp, in *inst) {
	v, a := view[T](w, in.d), view[A](w, in.a)
	size := uint64(unsafe.Sizeof(v[0]))
	w.polls = 0
	limit := w.sharedSize - size
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		addr := uint64(a[i] + A(in.imm))
		if addr&(size-1) != 0 || addr > limit || w.sharedSize < size {
			w.locate(in, addr, size, i)
			return
		}
		*(*T)(unsafe.Add(w.shared, uintptr(addr))) = v[i]
	}
}

// loadAny loads from every space, in every width and vector length.
//
//go:norace
func loadAny(w *warp, in *inst) {
	n := in.x.bytes()
	var sectors sectorSet
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		addr := w.address(in, i)
		p := w.locate(in, addr, n, i)
		if p == nil {
			return
		}
		for k, e := range in.x.elems {
			v := readCell(unsafe.Add(p, k*in.x.size), in.x.size)
			if in.x.signed {
				v = signExtend(v, in.x.size, true)
			}
			w.setLane(e, i, v)
		}
		sectors.add(addr, n)
	}
	w.countSectors(in, sectors.count)
}

// storeAny stores to every space, in every width and vector length.
//
//go:norace
func storeAny(w *warp, in *inst) {
	n := in.x.bytes()
	w.polls = 0
	var sectors sectorSet
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		addr := w.address(in, i)
		p := w.locate(in, addr, n, i)
		if p == nil {
			return
		}
		for k, e := range in.x.elems {
			writeCell(unsafe.Add(p, k*in.x.size), in.x.size, w.lane(e, i))
		}
		sectors.add(addr, n)
	}
	w.countSectors(in, sectors.count)
}

// countSectors counts accesses to global memory. A generic access counts as one.
func (w *warp) countSectors(in *inst, n int64) {
	if in.x.space == ptx.Global || in.x.space == ptx.Generic {
		w.account(in.x.kind, n)
	}
}

// readCell returns size bytes at p, zero-extended. size is 1, 2, 4 or 8.
//
//go:norace
func readCell(p unsafe.Pointer, size int) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// writeCell stores the low size bytes of v at p.
//
//go:norace
func writeCell(p unsafe.Pointer, size int, v uint64) {
	switch size {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		*(*uint16)(p) = uint16(v)
	case 4:
		*(*uint32)(p) = uint32(v)
	default:
		*(*uint64)(p) = v
	}
}

// lane returns one lane of a register, zero-extended.
func (w *warp) lane(e element, i int) uint64 {
	return readCell(unsafe.Add(w.regs, int(e.reg)+i*e.size), e.size)
}

// setLane stores v in one lane of a register, unless it is the sink.
func (w *warp) setLane(e element, i int, v uint64) {
	if e.reg != noSlot {
		writeCell(unsafe.Add(w.regs, int(e.reg)+i*e.size), e.size, v)
	}
}

// fromConstants wraps a load from constant memory. The constant cache holds what kernels use, so that nothing comes
// from L2.
func fromConstants(load handler) handler {
	return func(w *warp, in *inst) {
		before := w.eng.count.read
		load(w, in)
		w.eng.count.read = before
	}
}
