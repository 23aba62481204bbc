package graphexec

import (
	"errors"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/ir"
)

// surrounding says where an operation of a graph is enqueued.
type surrounding uint8

const (
	inGraph surrounding = iota
	beforeGraph
	afterGraph
)

var errAmidst = errors.New("the prefetch lies between operations of the graph, which cannot hold it: replay with the back end streams, or move the prefetch to where nothing but prefetches precede or follow it")

// surroundings says, by operation, which prefetches go before the graph, since nothing
// but prefetches precede them, and which after it, since nothing but those follow. An
// operation precedes another when that depends on it; where the schedule puts a
// prefetch does not matter.
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

func moves(w device.Work) bool {
	_, ok := w.(*device.Prefetch)
	return ok
}

func all(ids []ir.OpID, when []surrounding, want surrounding) bool {
	return !slices.ContainsFunc(ids, func(v ir.OpID) bool { return when[v] != want })
}

// edges lists, by operation, what precedes it and what follows it: its dependencies. Of a
// graph that was not analyzed they are not known; the schedule implies them, among others.
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

// prefetches appends those that go before the graph, or after it, in the order of the schedule.
func (b *graphBackend) prefetches(i *instance, cmds []device.Command, when []surrounding, which surrounding) []device.Command {
	for _, op := range b.prog.sched.Order {
		if when[op] == which {
			i.index[op] = len(cmds)
			cmds = append(cmds, device.Command{Kind: device.Run, Stream: b.stream, Work: b.prog.work[op]})
		}
	}
	return cmds
}
