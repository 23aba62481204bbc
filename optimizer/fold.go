package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// fold moves what brings data in and depends on nothing from the front of one lane to
// the front of another, as long as the replay is predicted to end sooner. Concurrency
// that the copy engine takes away again is not worth its edges:
//
//	copy x ─► square ─┐                 copy x ─► square ─┐
//	copy y ─► square ─┼─► reduce  ==>                     ├─► reduce
//	clear ────────────┘         clear ─► copy y ─► square ┘
//
// Here y waits for the engine behind x, and clear is done meanwhile. A graph is
// cheaper to launch by each node that merely continues a chain, and streams by each
// event.
//
// The times of kernels are only guessed here, those of transfers are not. So nothing is
// put behind a kernel, and no kernel may have to wait longer for the transfers before
// it: what is moved fits where the engine was busy anyway, however long kernels take.
func fold(s *ir.Schedule, opts *Options) error {
	if s.Graph.Len() > maxFolded {
		return nil
	}
	profile, err := opts.profile()
	if err != nil {
		return err
	}
	costs := opts.Costs
	if costs == nil {
		costs = DeclaredCosts(profile)
	}
	if foreseeable(s.Graph, profile, costs) != nil {
		return nil // predict says so, if it is asked to
	}
	best, ready := foresee(s, profile, costs)
	for {
		all := foldings(s)
		chosen := -1
		for i := range all {
			if err := syncs(&all[i], opts); err != nil {
				return err
			}
			if took, at := foresee(&all[i], profile, costs); took < best && !anyLater(ready, at) {
				best, chosen = took, i
			}
		}
		if chosen < 0 {
			return nil
		}
		c := &all[chosen]
		s.Order, s.Lane, s.Lanes, s.Waits = c.Order, c.Lane, c.Lanes, c.Waits
		best, ready = foresee(s, profile, costs)
	}
}

// foresee is the predicted time of a replay, and when each operation that is no transfer
// has those that come right before it.
func foresee(s *ir.Schedule, p *des.Profile, costs CostModel) (took des.Time, ready []des.Time) {
	took, ends := simulate(s, p, costs)
	ready = make([]des.Time, len(ends))
	for v, preds := range predecessors(s) {
		if transfers(&s.Graph.Ops[v]) {
			continue
		}
		for _, u := range preds {
			if transfers(&s.Graph.Ops[u]) {
				ready[v] = max(ready[v], ends[u])
			}
		}
	}
	return took, ready
}

// anyLater reports whether any time has grown.
func anyLater(before, after []des.Time) bool {
	for i := range before {
		if after[i] > before[i] {
			return true
		}
	}
	return false
}

// maxFolded is the most operations of a graph that is worth the simulations: each
// takes a microsecond an operation, and there may be as many as pairs of lanes.
const maxFolded = 200

// foldings are the schedules in which one lane has given its front to another. They
// have no waits.
func foldings(s *ir.Schedule) (all []ir.Schedule) {
	lanes := make([][]ir.OpID, s.Lanes)
	for _, v := range s.Order {
		lanes[s.Lane[v]] = append(lanes[s.Lane[v]], v)
	}
	for from, lane := range lanes {
		moved := len(front(s.Graph, lane))
		if moved == 0 {
			continue
		}
		for onto := range lanes {
			if onto == from {
				continue
			}
			for _, at := range slices.Compact([]int{0, len(front(s.Graph, lanes[onto]))}) {
				if c, ok := folded(s, lanes, moved, from, onto, at); ok {
					all = append(all, c)
				}
			}
		}
	}
	return all
}

// front is what a lane moves and fills first, if that depends on nothing.
func front(g *ir.Graph, lane []ir.OpID) []ir.OpID {
	n := 0
	for n < len(lane) && transfers(&g.Ops[lane[n]]) {
		n++
	}
	if depends := slices.ContainsFunc(g.Deps(), func(d ir.Dep) bool {
		return slices.Contains(lane[:n], d.To) && !slices.Contains(lane[:n], d.From)
	}); depends {
		return nil
	}
	return lane[:n]
}

// transfers reports whether an operation moves or fills bytes, and more than none. A
// prefetch is left where it is: a graph has none, and who waits for it there would wait
// for what was put in front of it.
func transfers(op *ir.Op) bool {
	switch op.Kind {
	case ir.KindCopy:
		return !op.Copy.Dst.Empty()
	case ir.KindMemset:
		return !op.Memset.Dst.Empty()
	}
	return false
}

// folded is s with the first n operations of a lane moved before operation number at
// of another. What is left of the lane goes behind one that it follows anyway. It
// reports false when something would come before what it depends on.
func folded(s *ir.Schedule, lanes [][]ir.OpID, n, from, onto, at int) (c ir.Schedule, ok bool) {
	moved, left := lanes[from][:n], lanes[from][n:]
	rest := slices.DeleteFunc(slices.Clone(s.Order), func(v ir.OpID) bool { return slices.Contains(moved, v) })
	place := slices.Index(rest, lanes[onto][max(0, at-1)])
	if at > 0 {
		place++
	}
	a := assignment{lane: slices.Clone(s.Lane), order: slices.Insert(rest, place, moved...)}
	for _, v := range moved {
		a.lane[v] = ir.LaneID(onto)
	}
	if !topological(s.Graph, a.order) {
		return c, false
	}
	if lane := followed(s.Graph, lanes, left); lane >= 0 && lane != from {
		for _, v := range left {
			a.lane[v] = ir.LaneID(lane)
		}
	}
	c = *s
	c.Order, c.Waits = a.order, nil
	c.Lane, c.Lanes = renumbered(a)
	return c, true
}

func topological(g *ir.Graph, order []ir.OpID) bool {
	rank := make([]int, len(order))
	for r, v := range order {
		rank[v] = r
	}
	return !slices.ContainsFunc(g.Deps(), func(d ir.Dep) bool { return rank[d.From] > rank[d.To] })
}

// followed is the lane whose last operation the first of ops depends on, -1 when there
// is none.
func followed(g *ir.Graph, lanes [][]ir.OpID, ops []ir.OpID) int {
	if len(ops) == 0 {
		return -1
	}
	return slices.IndexFunc(lanes, func(lane []ir.OpID) bool {
		return slices.ContainsFunc(g.Deps(), func(d ir.Dep) bool { return d.From == lane[len(lane)-1] && d.To == ops[0] })
	})
}
