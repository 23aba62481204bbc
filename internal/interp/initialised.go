package interp

import "math/bits"

// Memory can note which bytes have been written since they were allocated: a
// GPU hands out memory with whatever was left in it. Kernels that are watched
// report reads of bytes that have not; what else writes says so here.

// validity says which bytes of an allocation hold something. It exists only
// while some byte does not.
type validity struct {
	written bitmap
	missing uint64 // bytes not written
}

// TrackInitialised has the memory note what is written to allocations made from
// now on.
func (m *Memory) TrackInitialised() { m.track = true }

func (a *allocation) forget() {
	if a.size > 0 {
		a.valid = &validity{make(bitmap, bitmapWords(a.size)), a.size}
	}
}

// Initialise notes that n bytes at addr have been written.
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

// Uninitialised is the first run of bytes among n at addr that have not been
// written.
func (m *Memory) Uninitialised(addr, n uint64) (Span, bool) {
	a := m.find(addr, n)
	if a == nil || a.valid == nil || n == 0 {
		return Span{}, false
	}
	return a.valid.gap(a.base, addr-a.base, addr-a.base+n)
}

// gap is the first run of bytes not written between offsets lo and hi. It looks
// no further than its end: a copy asks for one gap after the other.
func (v *validity) gap(base, lo, hi uint64) (Span, bool) {
	first := v.find(lo, hi, false)
	end := v.find(first, hi, true)
	return Span{base + first, base + end}, first < hi
}

// find is the first offset from lo on that was written, or that was not; hi at most.
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

// CopyInitialised has n bytes at dst be as written as those at src: a copy of
// what was never written is no use of it yet.
func (m *Memory) CopyInitialised(dst, src, n uint64) {
	to, from := m.find(dst, n), m.find(src, n)
	if to == nil || n == 0 || to.within != nil { // of mapped memory all counts as written
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
		to.unwrite(dst-to.base+at, gap.Hi-gap.Lo)
		off = at + gap.Hi - gap.Lo
	}
}

// unwrite takes back that n written bytes at an offset have been written.
func (a *allocation) unwrite(lo, n uint64) {
	if a.valid == nil {
		a.forget()
		for i := range a.valid.written {
			a.valid.written[i] = ^uint64(0)
		}
		a.valid.missing = 0
	}
	a.valid.missing += n
	eachWord(lo, lo+n, func(i, set uint64) { a.valid.written[i] &^= set })
}
