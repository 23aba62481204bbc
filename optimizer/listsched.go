package optimizer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/heap"
	"github.com/reprise-gpu/reprise/ir"
)

// listSched is list scheduling on at most k lanes: whenever a lane is free, the ready
// operation with the longest path to the end starts on it (R. L. Graham, "Bounds on
// Multiprocessing Timing Anomalies", SIAM J. Appl. Math. 1969; the order by upward rank
// is HEFT's, Topcuoglu, Hariri and Wu, IEEE TPDS 2002).
//
//	rank 5   3   1             lane 0 ▕ 0 │ 1 │ 4 ▏
//	     0 ─► 1 ─► 4    ==>    lane 1 ▕ 2 │ 3 ▏
//	     2 ─► 3 ───┘           2 starts behind 0, which more depends on
//
// Time is that of the event core which predictions come from, so that a lane is free when
// what runs on it has really shared multiprocessors, bandwidth and copy engines with the
// rest. An operation that needs what is used up already is passed over for one that does
// not: a second copy in the same direction would hold a lane and move nothing.
//
// Lanes only bound the concurrency. An operation goes where one that it depends on has
// ended last, for that needs no wait; else on a new lane while there are fewer than k;
// else on the one that has been free for longest.
type listSched struct{ lanes int }

func (s listSched) assign(g *ir.Graph, opts *Options) (assignment, error) {
	p, costs, err := opts.model(g)
	if err != nil {
		return assignment{}, err
	}
	l := newList(g, p, costs, s.lanes)
	l.dispatch()
	l.engine.Drain()
	if len(l.order) != g.Len() {
		panic(fmt.Sprintf("BUG: %d of %d operations were scheduled", len(l.order), g.Len()))
	}
	return assignment{lane: l.lane, order: l.order}, nil
}

// byTime is an operation or a lane in a heap by time.
type byTime = heap.Entry[model.Time]

// list is the state of a list scheduling.
type list struct {
	g      *ir.Graph
	gap    model.Time
	lanes  int
	engine *des.Engine

	rank    []model.Time
	prints  []footprint
	missing []int32                        // by operation: dependencies that have not ended
	ready   [engines + 1]heap.Heap[byTime] // by the engine used most, the longest rank first

	order []ir.OpID // by task
	task  []des.TaskID
	lane  []ir.LaneID
	used  [engines]float64           // by what runs
	last  []ir.OpID                  // by lane
	busy  []bool                     // by lane
	idle  heap.Heap[heap.Entry[int]] // lanes by when they became so; those taken since are in it too
	since []int                      // by lane: its place in idle, of the many it had
	ended int
}

func newList(g *ir.Graph, p *model.Profile, costs CostModel, lanes int) *list {
	n := g.Len()
	took := alone(g, p, costs)
	l := &list{
		g: g, gap: p.GraphEdgeGap, lanes: lanes,
		rank: upwardRanks(g, took, p.GraphEdgeGap), prints: make([]footprint, n), missing: make([]int32, n),
		task: make([]des.TaskID, n), lane: make([]ir.LaneID, n),
	}
	l.engine = des.New(p, func(id des.TaskID, _ any) model.Demand { return costs.Demand(g, l.order[id]) })
	l.engine.OnEnd(func(r *des.Record) { l.end(l.order[r.ID]) })
	for v := range n {
		l.prints[v] = footprintOf(costs.Demand(g, ir.OpID(v)), took[v], p)
		if l.missing[v] = int32(len(g.DepsInto(ir.OpID(v)))); l.missing[v] == 0 {
			l.arrive(ir.OpID(v))
		}
	}
	return l
}

func (l *list) arrive(v ir.OpID) {
	l.ready[l.prints[v].most].Push(byTime{Key: -l.rank[v], ID: int32(v)})
}

// end frees what v used and starts what can start now.
func (l *list) end(v ir.OpID) {
	for e, share := range l.prints[v].share {
		l.used[e] -= share
	}
	lane := l.lane[v]
	l.ended++
	l.busy[lane], l.since[lane] = false, l.ended
	l.idle.Push(heap.Entry[int]{Key: l.ended, ID: int32(lane)})
	for _, w := range l.g.Succs(v) {
		if l.missing[w]--; l.missing[w] == 0 {
			l.arrive(w)
		}
	}
	l.dispatch()
}

// dispatch starts ready operations while there are free lanes.
func (l *list) dispatch() {
	for {
		from := l.choose()
		if from < 0 {
			return
		}
		v := ir.OpID(l.ready[from][0].ID)
		lane := l.laneFor(v)
		if lane < 0 {
			return
		}
		l.ready[from].Pop()
		l.start(v, lane)
	}
}

// choose is the queue to take the next operation from: of those whose first fits beside
// what runs, the one with the longest rank, else of all; -1 when all are empty.
func (l *list) choose() int {
	best, bestFits := -1, false
	for i, q := range l.ready {
		if len(q) == 0 {
			continue
		}
		fits := l.fits(ir.OpID(q[0].ID))
		if best < 0 || fits && !bestFits || fits == bestFits && q[0].Before(l.ready[best][0]) {
			best, bestFits = i, fits
		}
	}
	return best
}

func (l *list) fits(v ir.OpID) bool {
	const rounding = 1e-9
	for e, share := range l.prints[v].share {
		if share > 0 && l.used[e]+share > 1+rounding {
			return false
		}
	}
	return true
}

// laneFor is the lane for v, -1 when all are busy.
func (l *list) laneFor(v ir.OpID) ir.LaneID {
	best := ir.LaneID(-1)
	for _, d := range l.g.DepsInto(v) {
		lane := l.lane[d.From]
		if l.last[lane] == d.From && !l.busy[lane] && (best < 0 || l.since[lane] > l.since[best]) {
			best = lane
		}
	}
	if best >= 0 {
		return best
	}
	if len(l.last) < l.lanes {
		l.last, l.busy, l.since = append(l.last, -1), append(l.busy, false), append(l.since, 0)
		return ir.LaneID(len(l.last) - 1)
	}
	for len(l.idle) > 0 {
		q := l.idle[0]
		if !l.busy[q.ID] && l.since[q.ID] == q.Key {
			return ir.LaneID(q.ID)
		}
		l.idle.Pop()
	}
	return -1
}

// start submits v to the device.
func (l *list) start(v ir.OpID, lane ir.LaneID) {
	var deps []des.TaskID
	for _, d := range l.g.DepsInto(v) {
		deps = append(deps, l.task[d.From])
	}
	if u := l.last[lane]; u >= 0 {
		deps = append(deps, l.task[u])
	}
	for e, share := range l.prints[v].share {
		l.used[e] += share
	}
	l.last[lane], l.busy[lane], l.lane[v] = v, true, lane
	l.order = append(l.order, v) // before Add: the engine asks for the demand by it
	l.task[v] = l.engine.Add(des.Task{Arrival: l.engine.Now(), Gap: l.gap, Deps: deps})
}
