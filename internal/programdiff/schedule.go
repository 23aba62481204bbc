package programdiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/ir"
)

// planned returns the properties of an operation in a schedule, with the names of what it waits for.
func (x *side) planned(v ir.OpID, waits []string) []property {
	s := x.s
	if s == nil {
		return nil
	}
	priority, joined := int32(0), false
	if s.Priority != nil {
		priority = s.Priority[v]
	}
	if s.Joined != nil {
		joined = s.Joined[v]
	}
	return []property{{"lane", fmt.Sprint(s.Lane[v])}, {"waits", listed(waits)}, {"priority", fmt.Sprint(priority)}, {"joined", fmt.Sprint(joined)}}
}

// waits returns the names of the operations on other lanes for which an operation waits.
func (x *side) waits(v ir.OpID, name func(ir.OpID) string) (names []string) {
	if x.s == nil {
		return nil
	}
	for _, w := range x.s.Waits[v] {
		names = append(names, name(w))
	}
	slices.Sort(names)
	return names
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// wholly returns the properties of a schedule as a whole, without its order.
func (x *side) wholly() []property {
	s := x.s
	if s == nil {
		return nil
	}
	var pieces []string
	for _, segments := range s.Segments {
		ends := make([]string, len(segments.Pieces))
		for i, p := range segments.Pieces {
			ends[i] = fmt.Sprint(p.End)
		}
		pieces = append(pieces, fmt.Sprintf("of at most %d ns that end at %s", segments.Limit, strings.Join(ends, " ")))
	}
	return []property{
		{"strategy", s.Strategy}, {"device", fmt.Sprintf("%q", s.Profile)}, {"predicted", fmt.Sprintf("%d ns", s.Predicted)},
		{"lanes", fmt.Sprint(s.Lanes)}, {"pieces", listed(pieces)},
	}
}

// orders returns where two orders of submission begin to differ, for the operations that are in both programs.
func orders(a, b *side, to, from []ir.OpID) []string {
	if a.s == nil {
		return nil
	}
	unmatched := func(other []ir.OpID) func(ir.OpID) bool {
		return func(v ir.OpID) bool { return other[v] < 0 }
	}
	before := slices.DeleteFunc(slices.Clone(a.s.Order), unmatched(to))
	after := slices.DeleteFunc(slices.Clone(b.s.Order), unmatched(from))
	for i, u := range before {
		if to[u] != after[i] {
			return []string{fmt.Sprintf("order from number %d on: %s -> %s", i, a.name(u), b.name(after[i]))}
		}
	}
	return nil
}
