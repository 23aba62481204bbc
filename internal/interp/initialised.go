package interp

import "math/bits"

// Memory can record which bytes have been written since they were allocated. A
// GPU allocates memory with its old contents. Watched kernels
// report reads of bytes that have not been written. Other writers call Initialise.

// validity records which bytes of an allocation have been written. It exists only while
// some have not.
type validity struct {
	written bitmap
	missing uint64 // bytes not written
}

// TrackInitialised starts to record writes to allocations made from now on.
func (m *Memory) TrackInitialised() { m.track = true }

// markUninitialised marks all bytes of an allocation as unwritten.
func (a *allocation) markUninitialised() {
	if a.size > 0 {
		a.valid = &validity{make(bitmap, bitmapWords(a.size)), a.size}
	}
}

// Initialise records that n bytes at addr have been written.
func (m *Memory) Initialise(addr, n uint64) {
	a := m.find(addr, n)
	if a == nil || a.valid == nil || n == 0 {
		return
	}
	v, lo := a.valid, addr-a.base
	eachWord(lo, lo+n, func(i, set uint64) {
		v.missing -= uint64(bits.OnesCount64(set &^ v.written[i]))
		v.written[i] |= set
	})
	if v.missing == 0 {
		a.valid = nil
	}
}

// Uninitialised returns the first run of bytes in [addr, addr+n) that have not been
// written.
func (m *Memory) Uninitialised(addr, n uint64) (Span, bool) {
	a := m.find(addr, n)
	if a == nil || a.valid == nil || n == 0 {
		return Span{}, false
	}
	return a.valid.gap(a.base, addr-a.base, addr-a.base+n)
}

// gap returns the first run of unwritten bytes in offsets [lo, hi). It searches only up
// to the end of the run, since a copy queries one gap after the other.
func (v *validity) gap(base, lo, hi uint64) (Span, bool) {
	first := v.find(lo, hi, false)
	end := v.find(first, hi, true)
	return Span{base + first, base + end}, first < hi
}

// find returns the first offset from lo on that was written, or that was not; at most
// hi.
func (v *validity) find(lo, hi uint64, written bool) uint64 {
	for lo < hi {
		word := v.written[lo>>6]
		if !written {
			word = ^word
		}
		if left := word >> (lo & 63); left != 0 {
			return min(lo+uint64(bits.TrailingZeros64(left)), hi)
		}
		lo = (lo>>6 + 1) << 6
	}
	return hi
}

// CopyInitialised copies the record of n bytes from src to dst. Copying bytes that were
// never written is not an error; a kernel that reads the copy reports them.
func (m *Memory) CopyInitialised(dst, src, n uint64) {
	to, from := m.find(dst, n), m.find(src, n)
	if to == nil || n == 0 || to.within != nil { // all mapped memory counts as written
		return
	}
	m.Initialise(dst, n)
	if from == nil || from.valid == nil {
		return
	}
	for off := uint64(0); off < n; {
		gap, ok := from.valid.gap(0, src-from.base+off, src-from.base+n)
		if !ok {
			return
		}
		at := gap.Lo - (src - from.base)
		to.markUnwritten(dst-to.base+at, gap.Hi-gap.Lo)
		off = at + gap.Hi - gap.Lo
	}
}

// markUnwritten marks n written bytes at an offset as unwritten.
func (a *allocation) markUnwritten(lo, n uint64) {
	if a.valid == nil {
		a.markUninitialised()
		for i := range a.valid.written {
			a.valid.written[i] = ^uint64(0)
		}
		a.valid.missing = 0
	}
	a.valid.missing += n
	eachWord(lo, lo+n, func(i, set uint64) { a.valid.written[i] &^= set })
}
