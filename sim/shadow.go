package sim

import "github.com/reprise-gpu/reprise/sim/interp"

// touch is what one operation did to one allocation, in one way.
type touch struct {
	by     *operation
	way    way
	atomic string // the kind of an atomic way
	spans  []interp.Span
	sites  []interp.Site // of a kernel
}

// way is how memory is accessed.
type way uint8

const (
	reads way = iota
	writes
	atomics
)

// conflicts reports whether the order of two touches of a byte matters. That of
// atomic operations of one kind does not.
func (t *touch) conflicts(o *touch) bool {
	switch {
	case t.way == reads && o.way == reads:
		return false
	case t.way == atomics && o.way == atomics:
		return t.atomic != o.atomic
	}
	return true
}

// hides reports whether whatever conflicts with o on a byte conflicts with t.
func (t *touch) hides(o *touch) bool {
	return t.way == writes || t.way == o.way && t.atomic == o.atomic
}

// shadow is what was done to an allocation and may still be unordered with what
// comes. A byte's last write is all that need be kept of the writes before it
// that are ordered, for what is unordered with an earlier one is unordered
// with the last, too; and so for reads (Flanagan & Freund, FastTrack, PLDI 2009).
type shadow struct{ touches []touch }

// conflict is two touches that nothing orders.
type conflict struct {
	earlier touch // which happened to run first here
	later   *touch
	first   interp.Span // the first bytes that both touch
	bytes   uint64      // how many they are in all
	runs    int
}

// enter notes a touch and reports what it is in conflict with.
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

// near reports whether two touches may have bytes in common. It is all that most
// pairs of a program which works on tiles need.
func (t *touch) near(o *touch) bool {
	return t.spans[0].Lo < o.spans[len(o.spans)-1].Hi && o.spans[0].Lo < t.spans[len(t.spans)-1].Hi
}

// met reports what t conflicts with in a later touch, and whether that hides all of t.
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

// overlap describes the bytes that two sorted lists of spans share.
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

// subtract is a without the bytes of b. The result shares memory with a only if
// it is all of a.
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
