// Package ranking chooses among plans of one program: by the time of their replays, the time to prepare them, and their
// memory. Strategy auto, package auto and the command advise use it.
package ranking

import "math"

// Plan is what the choice depends on. Times are in one unit.
type Plan struct {
	Prepare float64 // once, before the first replay
	Replay  float64 // of one replay
	Bytes   int64   // device memory
	Lanes   int
	Ties    int // among equally quick plans, the one with the least Ties is chosen
}

// Terms are the conditions of a choice.
type Terms struct {
	Replays float64 // number of replays that pay for the preparation; +Inf compares the replays alone
	Bytes   int64   // most memory
	Lanes   int     // most lanes
}

// Any returns the terms of replays without end and without a limit.
func Any() Terms { return Terms{math.Inf(1), math.MaxInt64, math.MaxInt} }

// Of returns the index of the quickest of n plans that keep the terms, the first of equal ones. It is -1 if no plan keeps
// them. ok is false for a plan that takes no part.
func Of(n int, plan func(i int) (p Plan, ok bool), t Terms) int {
	best := -1
	var least Plan
	for i := range n {
		p, ok := plan(i)
		if !ok || p.Bytes > t.Bytes || p.Lanes > t.Lanes {
			continue
		}
		if best < 0 || p.before(&least, t.Replays) {
			best, least = i, p
		}
	}
	return best
}

// before reports whether p is chosen before q.
func (p *Plan) before(q *Plan, replays float64) bool {
	a, b := p.Replay, q.Replay
	if !math.IsInf(replays, 1) {
		a, b = p.Total(replays), q.Total(replays)
	}
	if a != b {
		return a < b
	}
	return p.Ties < q.Ties
}

// Total returns the time of the preparation and of a number of replays.
func (p *Plan) Total(replays float64) float64 { return p.Prepare + replays*p.Replay }

// BreakEven returns the smallest number of replays from which p takes no longer in total than q. It is +Inf if there is
// none.
func (p *Plan) BreakEven(q *Plan) float64 {
	more, gain := p.Prepare-q.Prepare, q.Replay-p.Replay
	switch {
	case gain <= 0 && more > 0 || gain < 0:
		return math.Inf(1)
	case more <= 0:
		return 0
	}
	return math.Ceil(more / gain)
}

// Range is a range of numbers of replays for which one plan is the quickest.
type Range struct {
	Plan int     // index
	From float64 // first number of replays
}

// Ranges returns which plan is the quickest from which number of replays on. The ranges end with the one that replays the
// quickest.
func Ranges(n int, plan func(i int) (Plan, bool), t Terms) (all []Range) {
	from := 1.0
	for {
		t.Replays = from
		at := Of(n, plan, t)
		if at < 0 {
			return nil
		}
		if len(all) == 0 || all[len(all)-1].Plan != at {
			all = append(all, Range{at, from})
		}
		p, _ := plan(at)
		next := math.Inf(1)
		for i := range n {
			q, ok := plan(i)
			if !ok || q.Bytes > t.Bytes || q.Lanes > t.Lanes || q.Replay >= p.Replay {
				continue
			}
			// The first number of replays for which q takes less time than p.
			next = min(next, max(from, math.Floor((q.Prepare-p.Prepare)/(p.Replay-q.Replay)))+1)
		}
		if math.IsInf(next, 1) {
			return all
		}
		from = next
	}
}

// Frontier returns the plans that no other one beats in both time and memory, the quickest first.
func Frontier(n int, plan func(i int) (Plan, bool)) (all []int) {
	t := Any()
	for {
		at := Of(n, plan, t)
		if at < 0 {
			return all
		}
		p, _ := plan(at)
		// Of equally quick plans, Of returns the one with the least Ties: take the one with the least memory.
		for i := range n {
			if q, ok := plan(i); ok && q.Replay == p.Replay && q.Bytes < p.Bytes {
				at, p = i, q
			}
		}
		all = append(all, at)
		t.Bytes = p.Bytes - 1
	}
}
