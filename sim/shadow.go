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
	kept := s.touches[:0]
	for _, old := range s.touches {
		after := t.by.after(old.by)
		if !after && t.by != old.by && t.conflicts(&old) {
			if first, bytes, runs := overlap(old.spans, t.spans); runs > 0 {
				report(conflict{old, t, first, bytes, runs})
			}
		}
		if (after || t.by == old.by) && t.hides(&old) {
			if old.spans = subtract(old.spans, t.spans); len(old.spans) == 0 {
				continue
			}
		}
		kept = append(kept, old)
	}
	clear(s.touches[len(kept):])
	s.touches = append(kept, *t)
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
