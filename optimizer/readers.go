package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// reader is an element of a linked list of readers. Lists of segments split from one share a tail.
type reader struct {
	op      ir.OpID
	next    int32   // an earlier element; -1 ends the list
	earlier ir.OpID // a reader dropped from the list because a later element waits for it; -1 for none
	asked   ir.OpID // the last writer that waited for this element and all after it
}

// readers holds the elements of all lists. Writes make lists unreachable. Unreachable elements are removed from
// time to time, so that memory grows with the segments and live elements, not with the reads.
type readers struct {
	links []reader
	limit int // the number of elements at which unreachable ones are removed
}

// minSweep is the smallest number of elements, half a megabyte, for which a removal is worth its time.
const minSweep = 1 << 15

// sweep removes the elements that no segment reaches, if there are enough elements.
func (r *readers) sweep(lines []timeline) {
	if len(r.links) < r.limit {
		return
	}
	place := slices.Repeat([]int32{-1}, len(r.links))
	segments := 0
	for i := range lines {
		lines[i].each(func(s *segment) {
			segments++
			for k := s.readers; k >= 0 && place[k] < 0; k = r.links[k].next {
				place[k] = k
			}
		})
	}
	r.move(place)
	for i := range lines {
		lines[i].each(func(s *segment) {
			if s.readers >= 0 {
				s.readers = place[s.readers]
			}
		})
	}
	r.limit = 2*len(r.links) + segments + minSweep
}

// move moves the elements that have a place to the front, in their order, and sets their new places. An
// element follows all elements that it links to.
func (r *readers) move(place []int32) {
	kept := r.links[:0]
	for k, link := range r.links {
		if place[k] < 0 {
			continue
		}
		if link.next >= 0 {
			link.next = place[link.next]
		}
		place[k] = int32(len(kept))
		kept = append(kept, link)
	}
	r.links = kept
}

// each calls f for each segment.
func (t *timeline) each(f func(*segment)) {
	for i := 0; i < len(t.cuts)-1; i = t.starts.Next(i + 1) {
		f(&t.state[i])
	}
}
