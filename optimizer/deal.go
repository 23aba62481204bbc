package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// maxDealLanes is the largest number of lanes that copies are dealt to. During a copy of one lane,
// the gap before the next copy of another passes. A third lane helps only if copies are shorter than
// a gap.
const maxDealLanes = 3

// deals returns schedules in which all free copies are dealt to 1, 2 or 3 new lanes in turn, and one
// in which each copy is on the lane of its first user.
//
//	a   b   c   d          one lane each   four roots, and no gaps
//	a ─► b ─► c ─► d       one lane        one root, and a gap before each copy
//	a ───► c               two lanes       two roots; the gap between a and c passes during b
//	  b ───► d
//
// Fills do not use the copy engine. They are placed at the front of the second lane, whose first copy
// has to wait for the engine anyway. The fill that is needed last comes first: an operation that
// waits for a later fill thereby waits for the earlier ones.
func (f *foldSearch) deals(s *ir.Schedule) (all []ir.Schedule) {
	var copies, fills []ir.OpID
	for _, v := range s.Order {
		switch {
		case !f.free[v]:
		case s.Graph.Ops[v].Kind == ir.KindMemset:
			fills = append(fills, v)
		default:
			copies = append(copies, v)
		}
	}
	if len(copies) < 2 {
		return nil
	}
	slices.SortStableFunc(fills, func(u, v ir.OpID) int { return cmp.Compare(firstUser(s.Graph, v), firstUser(s.Graph, u)) })
	deal := func(lane func(i int) int) {
		a := assignment{lane: slices.Clone(s.Lane)}
		for i, v := range copies {
			a.lane[v] = ir.LaneID(s.Lanes + lane(i))
		}
		second := max(0, slices.IndexFunc(copies, func(v ir.OpID) bool { return a.lane[v] != a.lane[copies[0]] }))
		for _, v := range fills {
			a.lane[v] = a.lane[copies[second]]
		}
		rest := slices.DeleteFunc(slices.Clone(s.Order), func(v ir.OpID) bool { return f.free[v] })
		a.order = slices.Concat(copies[:second], fills, copies[second:], rest)
		all = f.try(all, s, a)
	}
	for width := 1; width <= min(maxDealLanes, len(copies)); width++ {
		deal(func(i int) int { return i % width })
	}
	deal(func(i int) int { return int(firstUser(s.Graph, copies[i])) })
	return all
}

// firstUser returns the first operation that depends on v, or v itself if there is none.
func firstUser(g *ir.Graph, v ir.OpID) ir.OpID {
	if users := g.Succs(v); len(users) > 0 {
		return users[0]
	}
	return v
}
