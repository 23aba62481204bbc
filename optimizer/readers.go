package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// reader is a link of a list of readers. Segments split from one share a tail.
type reader struct {
	op      ir.OpID
	next    int32   // an earlier link; -1 ends the list
	earlier ir.OpID // one that left the list, because somebody in it waits for it; -1 for none
	asked   ir.OpID // the last writer that waited for this link and all behind it
}

// readers holds the links of all lists. A write makes lists unreachable; their links are removed from time to time, so
// that there are about as many as segments and live links, not as many as reads.
type readers struct {
	links []reader
	limit int // the number of links at which unreachable ones are removed
}

// minSweep is from how many links on a removal is worth its time: half a megabyte.
const minSweep = 1 << 15

// sweep removes the links that no segment of the lines leads to, if there are enough links.
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

// move moves the links that have a place to the front, in their order, and sets their new places. A link comes after all that
// it leads to.
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
