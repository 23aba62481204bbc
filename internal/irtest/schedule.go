package irtest

import (
	"math/rand/v2"
	"slices"

	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
)

// Schedule returns a valid schedule of an analyzed or reduced graph: a random
// topological order over random lanes, at most the given number, with a wait
// for every dependency between lanes. Some operations may be delayed, and some joined. It plans no arena.
func Schedule(r *rand.Rand, g *ir.Graph, lanes int) *ir.Schedule {
	n := g.Len()
	s := &ir.Schedule{
		Graph:    g,
		Strategy: "random",
		Lanes:    min(n, 1+r.IntN(lanes)),
		Order:    order(r, g),
		Lane:     make([]ir.LaneID, n),
		Waits:    make([][]ir.OpID, n),
	}
	for at, v := range s.Order {
		s.Lane[v] = ir.LaneID(at) // the first operations make sure that no lane is empty
		if at >= s.Lanes {
			s.Lane[v] = ir.LaneID(r.IntN(s.Lanes))
		}
	}
	for _, d := range g.Deps() {
		if s.Lane[d.From] != s.Lane[d.To] {
			s.Waits[d.To] = append(s.Waits[d.To], d.From)
		}
	}
	scheduleBodies(r, s, lanes)
	if r.IntN(4) == 0 {
		delay(r, s)
	}
	if r.IntN(2) == 0 {
		join(r, s)
	}
	return s
}

// scheduleBodies schedules the bodies of loops and branches. Those without dependencies get one lane.
func scheduleBodies(r *rand.Rand, s *ir.Schedule, lanes int) {
	for v := range s.Graph.Ops {
		c := s.Graph.Ops[v].Control
		if c == nil {
			continue
		}
		if s.Bodies == nil {
			s.Bodies = map[ir.OpID][]*ir.Schedule{}
		}
		for _, body := range c.Bodies {
			s.Bodies[ir.OpID(v)] = append(s.Bodies[ir.OpID(v)], scheduleBody(r, body, lanes))
		}
	}
}

func scheduleBody(r *rand.Rand, body *ir.Graph, lanes int) *ir.Schedule {
	if body.Phase != ir.Traced {
		return Schedule(r, body, lanes)
	}
	s := &ir.Schedule{Graph: body, Strategy: "serial", Lanes: min(1, body.Len()), Lane: make([]ir.LaneID, body.Len()), Waits: make([][]ir.OpID, body.Len())}
	for v := range body.Ops {
		s.Order = append(s.Order, ir.OpID(v))
	}
	scheduleBodies(r, s, lanes)
	return s
}

// delay makes some operations wait for others that they do not depend on.
func delay(r *rand.Rand, s *ir.Schedule) {
	for range 1 + r.IntN(3) {
		at := r.IntN(len(s.Order) + 1)
		if at < 1 || at >= len(s.Order) {
			continue
		}
		u, v := s.Order[r.IntN(at)], s.Order[at]
		if s.Lane[u] == s.Lane[v] || slices.Contains(s.Waits[v], u) {
			continue
		}
		if s.Delays == nil {
			s.Delays = make([][]ir.OpID, s.Graph.Len())
		}
		s.Waits[v], s.Delays[v] = append(s.Waits[v], u), append(s.Delays[v], u)
		slices.Sort(s.Waits[v])
		slices.Sort(s.Delays[v])
	}
}

// join joins some operations into groups, where the rules for groups permit it.
func join(r *rand.Rand, s *ir.Schedule) {
	records := schedules.Records(s)
	last := make([]ir.OpID, s.Lanes)
	for lane := range last {
		last[lane] = -1
	}
	for _, v := range s.Order {
		u := last[s.Lane[v]]
		last[s.Lane[v]] = v
		if u < 0 || records[u] || len(s.Waits[v]) > 0 || r.IntN(4) == 0 ||
			ungrouped(s.Graph.Ops[u].Kind) || ungrouped(s.Graph.Ops[v].Kind) {
			continue
		}
		if s.Joined == nil {
			s.Joined = make([]bool, s.Graph.Len())
		}
		s.Joined[v] = true
	}
}

// ungrouped reports whether a group may not hold operations of the kind.
func ungrouped(k ir.Kind) bool { return k == ir.KindPrefetch || k == ir.KindLoop || k == ir.KindBranch }

// order returns a random topological order: at each step it draws one of the ready operations.
func order(r *rand.Rand, g *ir.Graph) []ir.OpID {
	blocked := make([]int, g.Len())
	var ready, done []ir.OpID
	for v := range blocked {
		if blocked[v] = len(g.DepsInto(ir.OpID(v))); blocked[v] == 0 {
			ready = append(ready, ir.OpID(v))
		}
	}
	for len(ready) > 0 {
		i := r.IntN(len(ready))
		v := ready[i]
		ready = slices.Delete(ready, i, i+1)
		done = append(done, v)
		for _, w := range g.Succs(v) {
			if blocked[w]--; blocked[w] == 0 {
				ready = append(ready, w)
			}
		}
	}
	return done
}

// Segment divides a schedule into random pieces, at up to three granularities.
func Segment(r *rand.Rand, s *ir.Schedule) {
	inner := make([]bool, len(s.Order)+1) // by number of operations: whether a group of joined operations goes on there
	last := make([]int, s.Lanes)
	for at, v := range s.Order {
		for i := last[s.Lane[v]]; s.Joined != nil && s.Joined[v] && i <= at; i++ {
			inner[i] = true
		}
		last[s.Lane[v]] = at + 1
	}
	var ends []int
	for end := 1; end < len(s.Order); end++ {
		if !inner[end] && r.IntN(2) == 0 {
			ends = append(ends, end)
		}
	}
	for limit := int64(1); limit < 4; limit++ {
		ends = slices.DeleteFunc(ends, func(int) bool { return limit > 1 && r.IntN(2) == 0 })
		segment(r, s, 1000*limit, ends)
	}
}

// segment adds a granularity whose pieces end at the given numbers of operations, and at the last.
func segment(r *rand.Rand, s *ir.Schedule, limit int64, ends []int) {
	s.Segments = append(s.Segments, struct {
		Limit  int64
		Pieces []struct {
			End       int
			Predicted int64
			Bound     string
			Oversize  string
		}
	}{Limit: limit})
	level := &s.Segments[len(s.Segments)-1]
	for _, end := range append(slices.Clone(ends), len(s.Order)) {
		level.Pieces = append(level.Pieces, struct {
			End       int
			Predicted int64
			Bound     string
			Oversize  string
		}{end, r.Int64N(limit), []string{"", "compute", "memory"}[r.IntN(3)], []string{"", "one block \"takes\" longer"}[r.IntN(2)]})
	}
}
