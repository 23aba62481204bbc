package overlap

import (
	"cmp"
	"slices"
	"sort"
)

// Span is a time interval, in any unit. It is empty if it ends before it begins.
type Span struct{ Begin, End int64 }

func (s Span) length() int64 { return max(0, s.End-s.Begin) }

// union is a set of instants: disjoint, non-empty spans in order of time that do not touch.
type union []Span

func unite(spans []Span) union {
	byBegin := slices.SortedFunc(slices.Values(spans), func(a, b Span) int { return cmp.Compare(a.Begin, b.Begin) })
	var u union
	for _, s := range byBegin {
		switch last := len(u) - 1; {
		case s.length() == 0:
		case last >= 0 && s.Begin <= u[last].End:
			u[last].End = max(u[last].End, s.End)
		default:
			u = append(u, s)
		}
	}
	return u
}

// length returns the total length of the set.
func (u union) length() int64 { return total(u) }

// within returns the length of the part of a span that the set covers.
func (u union) within(s Span) (covered int64) {
	first := sort.Search(len(u), func(i int) bool { return u[i].End > s.Begin })
	for _, part := range u[first:] {
		if part.Begin >= s.End {
			break
		}
		covered += Span{max(part.Begin, s.Begin), min(part.End, s.End)}.length()
	}
	return covered
}

// covered returns the sum over the spans of the length that the set covers.
func (u union) covered(spans []Span) (sum int64) {
	for _, s := range spans {
		sum += u.within(s)
	}
	return sum
}

// total returns the sum of the lengths of the spans. Overlapping parts count several times.
func total(spans []Span) (sum int64) {
	for _, s := range spans {
		sum += s.length()
	}
	return sum
}
