package distribute

import (
	"iter"
	"slices"
	"sort"
)

// history is the last accesses of the bytes of one place: their last writers and, of each lane, the last readers since. The
// order of the lane implies its earlier ones.
type history struct {
	writers spans
	lanes   []int32 // those that have read
	readers []spans // by index in lanes
}

// reads returns the reads of a lane.
func (h *history) reads(lane int32) *spans {
	i := slices.Index(h.lanes, lane)
	if i < 0 {
		i = len(h.lanes)
		h.lanes, h.readers = append(h.lanes, lane), append(h.readers, nil)
	}
	return &h.readers[i]
}

// spans is instances by the bytes that they access: ascending, without overlaps. An instance replaces those whose bytes it
// accesses, so the number of steps is that of the spans that are added, not that of the bytes that a growing access covers.
type spans []span

type span struct {
	lo, hi   int64
	instance int32
}

// overlap returns the indices [i, j) of the spans that have bytes of [lo, hi), which may be empty.
func (s spans) overlap(lo, hi int64) (i, j int) {
	if lo >= hi {
		return 0, 0
	}
	i = sort.Search(len(s), func(k int) bool { return s[k].hi > lo })
	j = i + sort.Search(len(s)-i, func(k int) bool { return s[i+k].lo >= hi })
	return i, j
}

// each calls f with the instances that access bytes of [lo, hi).
func (s spans) each(lo, hi int64, f func(instance int32)) {
	i, j := s.overlap(lo, hi)
	for ; i < j; i++ {
		f(s[i].instance)
	}
}

// gaps returns the parts of [lo, hi) that no span has.
func (s spans) gaps(lo, hi int64) iter.Seq2[int64, int64] {
	return func(yield func(lo, hi int64) bool) {
		i, j := s.overlap(lo, hi)
		for ; i < j; i++ {
			if lo < s[i].lo && !yield(lo, s[i].lo) {
				return
			}
			lo = s[i].hi
		}
		if lo < hi {
			yield(lo, hi)
		}
	}
}

// set makes [lo, hi) the bytes of an instance.
func (s *spans) set(lo, hi int64, instance int32) {
	if lo < hi {
		s.replace(lo, hi, span{lo, hi, instance})
	}
}

// clear removes [lo, hi).
func (s *spans) clear(lo, hi int64) { s.replace(lo, hi) }

// replace puts spans in place of [lo, hi).
func (s *spans) replace(lo, hi int64, with ...span) {
	i, j := s.overlap(lo, hi)
	if i == j && len(with) == 0 {
		return
	}
	var room [3]span
	list := room[:0]
	if i < j && (*s)[i].lo < lo {
		list = append(list, span{(*s)[i].lo, lo, (*s)[i].instance})
	}
	list = append(list, with...)
	if i < j && (*s)[j-1].hi > hi {
		list = append(list, span{hi, (*s)[j-1].hi, (*s)[j-1].instance})
	}
	*s = slices.Replace(*s, i, j, list...)
}
