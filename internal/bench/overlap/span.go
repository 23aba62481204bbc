package overlap

import (
	"cmp"
	"slices"
	"sort"
)

// Span is a stretch of time, in any unit. One that ends before it begins is empty.
type Span struct{ Begin, End int64 }

func (s Span) length() int64 { return max(0, s.End-s.Begin) }

// union is a set of instants: spans in order of time that neither touch nor are
// empty.
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

// length is how long the set is in all.
func (u union) length() int64 { return total(u) }

// within is how much of a span the set covers.
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

// covered is how much of the spans, added up, the set covers.
func (u union) covered(spans []Span) (sum int64) {
	for _, s := range spans {
		sum += u.within(s)
	}
	return sum
}

// total adds up the spans: where two overlap, both count.
func total(spans []Span) (sum int64) {
	for _, s := range spans {
		sum += s.length()
	}
	return sum
}
