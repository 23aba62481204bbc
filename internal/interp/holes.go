package interp

import (
	"slices"
	"sort"
)

// holes are ranges of addresses that are free below the first that was never taken. They are sorted,
// and no two of them touch.
type holes []Span

// add frees the addresses from base to end.
func (h *holes) add(base, end uint64) {
	if base == end {
		return
	}
	i := sort.Search(len(*h), func(i int) bool { return (*h)[i].Hi >= base })
	k := i
	for ; k < len(*h) && (*h)[k].Lo <= end; k++ {
		base, end = min(base, (*h)[k].Lo), max(end, (*h)[k].Hi)
	}
	*h = slices.Replace(*h, i, k, Span{base, end})
}

// take takes n addresses from a multiple of align on, a power of two, out of the first hole that has them.
func (h *holes) take(n, align uint64) (base uint64, ok bool) {
	for i, o := range *h {
		base = alignUp(o.Lo, align)
		if base < o.Lo || base > o.Hi || n > o.Hi-base {
			continue
		}
		*h = slices.Delete(*h, i, i+1)
		h.add(o.Lo, base)
		h.add(base+n, o.Hi)
		return base, true
	}
	return 0, false
}

// alignUp is the first multiple of align, a power of two, from an address on; 0 if there is none.
func alignUp(addr, align uint64) uint64 { return (addr + align - 1) &^ (align - 1) }
