package sim

import "github.com/reprise-gpu/reprise/internal/interp"

// touch is one kind of access of an operation to one allocation.
type touch struct {
	by     *operation
	way    way
	atomic string // kind of atomic operation
	spans  []interp.Span
	sites  []interp.Site // instructions of a kernel
}

// way is a kind of access to memory.
type way uint8

const (
	reads way = iota
	writes
	atomics
)

// conflicts reports whether the order of two touches of a byte matters. It does not for atomic operations of the same
// kind.
func (t *touch) conflicts(o *touch) bool {
	switch {
	case t.way == reads && o.way == reads:
		return false
	case t.way == atomics && o.way == atomics:
		return t.atomic != o.atomic
	}
	return true
}

// hides reports whether everything that conflicts with o on a byte also conflicts with t.
func (t *touch) hides(o *touch) bool {
	return t.way == writes || t.way == o.way && t.atomic == o.atomic
}

// shadow holds the accesses to an allocation that may be unordered with later ones. For each byte only the last of
// several ordered writes is needed: work that is unordered with an earlier write is unordered with the last one, too.
// The same holds for reads (Flanagan & Freund, FastTrack, PLDI 2009).
type shadow struct{ touches []touch }

// conflict is a pair of unordered touches.
type conflict struct {
	earlier touch // the one that happened to run first
	later   *touch
	first   interp.Span // the first range of bytes in common
	bytes   uint64      // number of bytes in common
	runs    int
}

// enter adds a touch and reports its conflicts.
func (s *shadow) enter(t *touch, report func(conflict)) {
	kept := 0
	for i := range s.touches {
		old := &s.touches[i]
		if old.near(t) && old.met(t, report) {
			continue
		}
		if kept < i {
			s.touches[kept] = *old
		}
		kept++
	}
	clear(s.touches[kept:])
	s.touches = append(s.touches[:kept], *t)
}

// near reports whether two touches may have bytes in common, by their outer bounds. It is a cheap test for programs
// that work on disjoint tiles.
func (t *touch) near(o *touch) bool {
	return t.spans[0].Lo < o.spans[len(o.spans)-1].Hi && o.spans[0].Lo < t.spans[len(t.spans)-1].Hi
}

// met reports a conflict of t with a later touch. It returns true if the later touch hides all bytes of t.
func (t *touch) met(later *touch, report func(conflict)) bool {
	ordered := t.by == later.by || later.by.after(t.by)
	if !ordered && later.conflicts(t) {
		if first, bytes, runs := overlap(t.spans, later.spans); runs > 0 {
			report(conflict{*t, later, first, bytes, runs})
		}
	}
	if ordered && later.hides(t) {
		t.spans = subtract(t.spans, later.spans)
	}
	return len(t.spans) == 0
}

// overlap returns the bytes in common of two sorted lists of spans.
func overlap(a, b []interp.Span) (first interp.Span, bytes uint64, runs int) {
	for len(a) > 0 && len(b) > 0 {
		lo, hi := max(a[0].Lo, b[0].Lo), min(a[0].Hi, b[0].Hi)
		if lo < hi {
			if runs == 0 {
				first = interp.Span{Lo: lo, Hi: hi}
			}
			runs++
			bytes += hi - lo
		}
		if a[0].Hi < b[0].Hi {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return first, bytes, runs
}

// subtract returns a without the bytes of b. If nothing is removed, it returns a itself, otherwise new memory.
func subtract(a, b []interp.Span) []interp.Span {
	if _, _, runs := overlap(a, b); runs == 0 {
		return a
	}
	var left []interp.Span
	for _, s := range a {
		for len(b) > 0 && b[0].Hi <= s.Lo {
			b = b[1:]
		}
		for rest := b; s.Lo < s.Hi; rest = rest[1:] {
			if len(rest) == 0 || rest[0].Lo >= s.Hi {
				left = append(left, s)
				break
			}
			if s.Lo < rest[0].Lo {
				left = append(left, interp.Span{Lo: s.Lo, Hi: rest[0].Lo})
			}
			s.Lo = rest[0].Hi
		}
	}
	return left
}
