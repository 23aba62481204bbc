package ranks

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/internal/distribute"
)

// spans is ascending bytes of a buffer that neither overlap nor touch.
type spans []distribute.Span

// union returns the bytes of a list in any order.
func union(list []distribute.Span) (all spans) {
	list = slices.DeleteFunc(slices.Clone(list), func(s distribute.Span) bool { return s.Lo >= s.Hi })
	slices.SortFunc(list, func(a, b distribute.Span) int { return cmp.Compare(a.Lo, b.Lo) })
	for _, s := range list {
		if n := len(all) - 1; n >= 0 && s.Lo <= all[n].Hi {
			all[n].Hi = max(all[n].Hi, s.Hi)
			continue
		}
		all = append(all, s)
	}
	return all
}

// minus returns the bytes of s that are not in o.
func (s spans) minus(o spans) (left spans) {
	for _, one := range s {
		for len(o) > 0 && o[0].Hi <= one.Lo {
			o = o[1:]
		}
		for _, cut := range o {
			if cut.Lo >= one.Hi {
				break
			}
			if one.Lo < cut.Lo {
				left = append(left, distribute.Span{Lo: one.Lo, Hi: cut.Lo})
			}
			one.Lo = max(one.Lo, cut.Hi)
		}
		if one.Lo < one.Hi {
			left = append(left, one)
		}
	}
	return left
}

// common returns the bytes that are in both.
func (s spans) common(o spans) spans { return s.minus(s.minus(o)) }
