package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
)

// cutIntoPieces divides a schedule into pieces that are replayed one after another, each predicted to take at most a limit
// on the device:
//
//	order   %0 %1 %2 │ %3 %4 │ %5 %6 %7        a cut is a position in a topological order
//
// A cut costs a launch, and operations on its two sides no longer run at the same time. The least sum of both is found
// by dynamic programming over the positions of one order: cheapest(j) = min over i of cheapest(i) + cost(i, j), where
// the cost of a piece is its time by the event core plus a launch. A lower bound of the time, from the critical path
// and the busiest engine, decides which pieces are simulated. The order is the best of a few (see orders). For a graph
// with few downward-closed sets of operations, a second program over these sets covers all orders (see byPrefixes). The
// result is therefore optimal for chains and such graphs, and for others among the cuts of the orders tried.
//
// Coarser granularities, of 2, 5 and 10 times the limit and one piece for all, are found in the same way, with
// cuts at the ends of finer pieces only.
//
// A piece that takes longer than the limit has an operation that alone does, or a group of joined ones, and is marked
// oversize with the reason. Operations that run beside it may belong to the piece (see allowance).
func cutIntoPieces(limit model.Time) func(*ir.Schedule, *Options) error {
	return func(s *ir.Schedule, opts *Options) error {
		f, err := opts.forecast(s.Graph)
		if err != nil || s.Graph.Len() == 0 {
			return err
		}
		c := newCutter(s, f, opts.oversize)
		best := c.best(s, limit)
		s.Order = best.order
		s.Lane, s.Lanes = renumbered(assignment{lane: s.Lane, order: s.Order})
		s.Segments = c.levels(best, limit)
		return nil
	}
}

// coarser are the limits of granularities, as multiples of the finest.
var coarser = []model.Time{2, 5, 10}

// segments and piece are the element of ir.Schedule.Segments and one of its pieces.
type (
	segments = struct {
		Limit  int64
		Pieces []piece
	}
	piece = struct {
		End       int
		Predicted int64
		Bound     string
		Oversize  string
	}
)

// cutter divides orders of one schedule.
type cutter struct {
	*forecast
	demands  []model.Demand
	took     []model.Time // by operation: its time alone
	least    []model.Time // by operation: a lower bound of its time beside any others
	preds    [][]ir.OpID  // by operation: along lanes and waits
	succs    [][]ir.OpID
	joined   []bool // as in the schedule
	lane     []ir.LaneID
	priority []int32
	oversize map[ir.OpID]string
	graph    *ir.Graph
	launch   model.Time // cost of one more piece
	longest  model.Time // time of the longest operation
	work     int        // operations simulated so far
}

func newCutter(s *ir.Schedule, f *forecast, oversize map[ir.OpID]string) *cutter {
	n := s.Graph.Len()
	c := &cutter{
		forecast: f, graph: s.Graph, demands: make([]model.Demand, n), took: alone(s.Graph, f.profile, f.costs), preds: schedules.Predecessors(s),
		least: make([]model.Time, n), succs: make([][]ir.OpID, n), joined: s.Joined, lane: s.Lane, priority: s.Priority, oversize: oversize,
		launch: f.profile.Host.GraphLaunch + f.profile.GraphRootGap,
	}
	for v := range c.demands {
		c.demands[v] = f.costs.Demand(s.Graph, ir.OpID(v))
		c.least[v] = des.LeastTime(f.profile, c.demands[v])
		c.longest = max(c.longest, c.took[v])
		for _, u := range c.preds[v] {
			c.succs[u] = append(c.succs[u], ir.OpID(v))
		}
	}
	return c
}

// allowance returns the longest time of a piece with an operation: the limit, or if the operation takes longer, a
// sixteenth more than its time. Other operations then may be in the piece as far as they run beside it.
func (c *cutter) allowance(v ir.OpID, limit model.Time) model.Time {
	if c.took[v] > limit {
		return c.took[v] + c.took[v]/16
	}
	return limit
}

// maxCutWork bounds the operations of all pieces that are simulated. Beyond it, the lower bound decides, and pieces
// that turn out to exceed the limit are halved.
const maxCutWork = 1 << 20

// best returns the cheapest cuts of all orders, and otherwise those of a few. The order of the schedule is the first of
// them and wins ties.
func (c *cutter) best(s *ir.Schedule, limit model.Time) (best cuts) {
	for i, order := range c.orders(s) {
		if x := c.cut(order, c.ends(order), limit); i == 0 || x.cost < best.cost {
			best = x
		}
	}
	best = c.arranged(best)
	if x, ok := c.byPrefixes(s.Order, limit); ok && x.cost < best.cost {
		best = x
	}
	return best
}

// ends returns the positions at which pieces may end, ascending: all but those within a group of joined operations.
func (c *cutter) ends(order []ir.OpID) []int {
	inner := make([]bool, len(order)+1)
	last := map[ir.LaneID]int{} // by lane: the position behind its last operation
	for at, v := range order {
		for i := last[c.lane[v]]; c.joined != nil && c.joined[v] && i <= at; i++ {
			inner[i] = true
		}
		last[c.lane[v]] = at + 1
	}
	var ends []int
	for end := 1; end <= len(order); end++ {
		if !inner[end] {
			ends = append(ends, end)
		}
	}
	return ends
}

// levels returns the pieces of all granularities. One that would have the pieces of the finer one is left out.
func (c *cutter) levels(finest cuts, limit model.Time) []segments {
	list := []segments{c.pieces(finest, limit)}
	for _, times := range coarser {
		finest = c.cut(finest.order, finest.ends, times*limit)
		if len(finest.ends) < len(list[len(list)-1].Pieces) {
			list = append(list, c.pieces(finest, times*limit))
		}
	}
	if last := list[len(list)-1]; len(last.Pieces) > 1 {
		whole := cuts{order: finest.order, ends: []int{len(finest.order)}}
		took := c.time(whole.order)
		list = append(list, c.pieces(whole, max(model.Time(last.Limit)*model.Nanosecond, took+model.Nanosecond)))
	}
	return list
}

// pieces returns the pieces of one granularity.
func (c *cutter) pieces(x cuts, limit model.Time) segments {
	level := segments{Limit: int64(limit / model.Nanosecond)}
	from := 0
	for _, end := range x.ends {
		ops := x.order[from:end]
		took := c.time(ops)
		p := piece{End: end, Predicted: int64(took / model.Nanosecond), Bound: c.bound(ops)}
		if took > limit {
			p.Oversize = c.reason(ops)
		}
		level.Pieces = append(level.Pieces, p)
		from = end
	}
	return level
}

// reason returns why a piece cannot be cut.
func (c *cutter) reason(ops []ir.OpID) string {
	for _, v := range ops {
		if why := c.oversize[v]; why != "" {
			return why
		}
	}
	if len(ops) > 1 {
		return "its operations are joined to one launch"
	}
	return withArticle(c.graph.Ops[ops[0]].Kind) + " was not cut"
}

// bound returns whether memory or the multiprocessors are busy for longer during a piece, and "" if neither is known.
func (c *cutter) bound(ops []ir.OpID) string {
	busy := des.NewBusy(c.profile)
	for _, v := range ops {
		busy.Add(c.demands[v])
	}
	switch compute, memory := busy.Shares(); {
	case compute == 0 && memory == 0:
		return ""
	case memory > compute:
		return "memory"
	}
	return "compute"
}

// time returns the predicted time of a piece on an idle device, from the start of its first operation.
func (c *cutter) time(ops []ir.OpID) model.Time {
	c.work += len(ops)
	e := des.New(c.profile, func(id des.TaskID, _ any) model.Demand { return c.demands[ops[id]] })
	task := make(map[ir.OpID]des.TaskID, len(ops))
	var deps []des.TaskID
	for _, v := range ops {
		deps = deps[:0]
		for _, u := range c.preds[v] {
			if id, inside := task[u]; inside {
				deps = append(deps, id)
			}
		}
		t := des.Task{Deps: deps}
		if len(deps) > 0 {
			t.Gap = c.profile.GraphEdgeGap
		}
		if c.priority != nil {
			t.Priority = c.priority[v]
		}
		task[v] = e.Add(t)
	}
	return e.Drain()
}
