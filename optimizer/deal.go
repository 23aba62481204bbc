package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// widest is the most lanes that copies are dealt out to. While one copies, the gap before
// the next copy of another passes; a third lane is for copies shorter than a gap.
const widest = 3

// deals are the schedules in which all copies that nothing holds back are dealt out to lanes
// in turn, and the one in which each is on a lane with what the same operation needs.
//
//	a   b   c   d          one lane each   four roots, and no gap is waited for
//	a ─► b ─► c ─► d       one lane        one root, and a gap before each copy
//	a ───► c               two             two roots; the gap between a and c passes during b
//	  b ───► d
//
// Fills do not need the copy engine. They go in front of the second lane, which waits for it,
// the first to be needed last: who waits for that need not wait for the others again.
func (f *folder) deals(s *ir.Schedule) (all []ir.Schedule) {
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
	for width := 1; width <= min(widest, len(copies)); width++ {
		deal(func(i int) int { return i % width })
	}
	deal(func(i int) int { return int(firstUser(s.Graph, copies[i])) })
	return all
}

// firstUser is the first operation to depend on v, v itself if none does.
func firstUser(g *ir.Graph, v ir.OpID) ir.OpID {
	if users := g.Succs(v); len(users) > 0 {
		return users[0]
	}
	return v
}
