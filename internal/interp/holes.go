package interp

import (
	"slices"
	"sort"
)

// holes are the free ranges of addresses below the first address that was never used.
// They are sorted and not adjacent.
type holes []Span

// add frees the addresses [base, end).
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

// take allocates n addresses, aligned to a power of two, from the first hole that is large
// enough (first fit). The rest of the hole remains free.
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

// alignUp returns the first multiple of align, a power of two, that is not below addr;
// 0 on overflow.
func alignUp(addr, align uint64) uint64 { return (addr + align - 1) &^ (align - 1) }
