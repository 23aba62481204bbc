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
//	     2 ─► 3 ───┘           0 starts first: its path to the end is longer
//
// Time advances with the event core that also makes predictions. A lane therefore becomes free
// when its operation, sharing multiprocessors, bandwidth and copy engines with others, has
// ended. An operation whose engine is fully used is passed over for one that uses another
// engine: a second copy in the same direction would occupy a lane and move nothing.
//
// Lanes only bound the concurrency. An operation runs on the lane of its predecessor that
// ended last, which saves a wait; otherwise on a new lane while there are fewer than k;
// otherwise on the lane that has been free for longest.
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

// list is the state of list scheduling.
type list struct {
	g      *ir.Graph
	gap    model.Time
	lanes  int
	engine *des.Engine

	rank    []model.Time                   // by operation: longest path to the end
	prints  []footprint                    // by operation
	missing []int32                        // by operation: number of dependencies that have not ended
	ready   [engines + 1]heap.Heap[byTime] // by the engine used most: ready operations, longest rank first

	order []ir.OpID                  // by task
	task  []des.TaskID               // by operation
	lane  []ir.LaneID                // by operation
	used  [engines]float64           // by engine: the share that running operations use
	last  []ir.OpID                  // by lane: its last operation
	busy  []bool                     // by lane
	idle  heap.Heap[heap.Entry[int]] // lanes by when they became idle; entries that disagree with since are outdated
	since []int                      // by lane: its key in idle
	ended int                        // number of operations that have ended
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

// arrive adds a ready operation to the queue of its engine.
func (l *list) arrive(v ir.OpID) {
	l.ready[l.prints[v].most].Push(byTime{Key: -l.rank[v], ID: int32(v)})
}

// end releases the engines of v and starts the operations that can run now.
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

// choose returns the queue to take the next operation from: the one whose first operation has the longest
// rank, among those that fit beside the running operations or else among all; -1 if all are empty.
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

// fits reports whether the engines have enough capacity left for v.
func (l *list) fits(v ir.OpID) bool {
	const rounding = 1e-9
	for e, share := range l.prints[v].share {
		if share > 0 && l.used[e]+share > 1+rounding {
			return false
		}
	}
	return true
}

// laneFor returns a lane for v, or -1 if all are busy.
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
	l.order = append(l.order, v) // before Add, which calls back for the demand of this task
	l.task[v] = l.engine.Add(des.Task{Arrival: l.engine.Now(), Gap: l.gap, Deps: deps})
}
