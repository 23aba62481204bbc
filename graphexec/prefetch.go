package graphexec

import (
	"errors"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/ir"
)

// surrounding states where an operation is enqueued: in the graph, or, for a prefetch, around it.
type surrounding uint8

const (
	inGraph surrounding = iota
	beforeGraph
	afterGraph
)

var errAmidst = errors.New("the prefetch lies between operations of the graph, which cannot hold it: replay with the back end streams, or move the prefetch to where nothing but prefetches precede or follow it")

// surroundings places each prefetch before or after the graph:
//
//	prefetch ─► prefetch ─► [ graph: all other operations ] ─► prefetch
//
// A prefetch goes before the graph if all its predecessors do, that is, if it depends on nothing but
// prefetches. Otherwise it goes after the graph if all its successors do. A prefetch with other
// operations on both sides is an error, errAmidst. Predecessors are those by dependencies; the lane
// of a prefetch does not matter. One forward and one backward pass over the submission order, which is
// topological, take O(operations + dependencies).
func surroundings(p *program) ([]surrounding, error) {
	when := make([]surrounding, len(p.work))
	if !slices.ContainsFunc(p.work, moves) {
		return when, nil
	}
	order := p.sched.Order
	preds, succs := edges(p.sched)
	for _, v := range order {
		if moves(p.work[v]) && all(preds[v], when, beforeGraph) {
			when[v] = beforeGraph
		}
	}
	for _, v := range slices.Backward(order) {
		switch {
		case !moves(p.work[v]) || when[v] == beforeGraph:
		case all(succs[v], when, afterGraph):
			when[v] = afterGraph
		default:
			return nil, parts.OpError(p.sched.Graph, v, errAmidst)
		}
	}
	return when, nil
}

// moves reports whether work is a prefetch, which moves pages of managed memory.
func moves(w device.Work) bool {
	_, ok := w.(*device.Prefetch)
	return ok
}

func all(ids []ir.OpID, when []surrounding, want surrounding) bool {
	return !slices.ContainsFunc(ids, func(v ir.OpID) bool { return when[v] != want })
}

// edges returns, by operation, its predecessors and its successors by dependencies. The dependencies
// of a graph that was not analyzed (phase Traced) are unknown. The order of lanes and waits is then
// added, which implies them.
func edges(s *ir.Schedule) (preds, succs [][]ir.OpID) {
	preds, succs = make([][]ir.OpID, s.Graph.Len()), make([][]ir.OpID, s.Graph.Len())
	add := func(from, to ir.OpID) {
		preds[to], succs[from] = append(preds[to], from), append(succs[from], to)
	}
	for _, d := range s.Graph.Deps() {
		add(d.From, d.To)
	}
	if s.Graph.Phase != ir.Traced {
		return preds, succs
	}
	tail := map[ir.LaneID]ir.OpID{}
	for _, v := range s.Order {
		if u, ok := tail[s.Lane[v]]; ok {
			add(u, v)
		}
		for _, u := range s.Waits[v] {
			add(u, v)
		}
		tail[s.Lane[v]] = v
	}
	return preds, succs
}

// prefetches appends the commands of the prefetches on one side of the graph, in submission order, and
// records their indices for updates.
func (b *graphBackend) prefetches(i *instance, cmds []device.Command, when []surrounding, which surrounding) []device.Command {
	for _, op := range b.prog.sched.Order {
		if when[op] == which {
			i.index[op] = len(cmds)
			cmds = append(cmds, device.Command{Kind: device.Run, Stream: b.stream, Work: b.prog.work[op]})
		}
	}
	return cmds
}
