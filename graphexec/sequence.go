package graphexec

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
)

// sequence adds runs of a program to a graph. Each run follows the previous one.
type sequence struct {
	dev   device.Device
	graph device.Graph
	prog  *program
	when  []surrounding // by operation

	// For loops and branches.
	top      device.Graph  // the graph that is launched
	nested   bool          // graph is a body in top
	stream   device.Stream // on which the counts of loops are set
	controls *controls     // holds the resources of loops and branches

	ends []device.Node // the nodes that no other node of the last run follows

	// For the iterations of a loop. written adds a reader of the scalar after the nodes behind, which write
	// the scalar in iteration i, from 1. It returns that node, or 0 for none.
	marks   marks
	written func(i int, behind []device.Node) (device.Node, error)
	done    int         // number of iterations whose writers have been added
	reader  device.Node // the last reader, which the next iteration must not overtake
}

// add adds one run and returns its nodes by operation, or 0 for a prefetch. The edges are exactly the
// order that streams would keep: a node depends on the operation before it on its lane and on those it
// waits for.
//
//	lane 0   a ─► c              run 1          run 2
//	              ▲            ┌ a ─► c ─┐    ┌ a ─► c ─
//	lane 1   b ───┘            └ b ──┘   └─►──┴ b ──┘
//
// Three cases add or replace edges:
//
//   - A prefetch has no node. Its successors depend on its predecessors instead (passed).
//   - Nodes without predecessors depend on the ends of the previous run (entry).
//   - The first writers of the scalar in an iteration depend on the reader of the previous iteration.
//     All other operations may overtake that reader.
//
// It takes O(operations + waits) without prefetches. Invariant: nodes[u] is set for each operation u
// before v in the submission order when v is added, since Order is topological.
func (q *sequence) add() ([]device.Node, error) {
	entry, err := q.entry()
	if err != nil {
		return nil, err
	}
	s := q.prog.sched
	nodes := make([]device.Node, len(q.prog.work))
	tail := make([]ir.OpID, s.Lanes)
	for lane := range tail {
		tail[lane] = -1
	}
	passed := map[ir.OpID][]device.Node{} // by prefetch
	var deps []device.Node
	depend := func(u ir.OpID) {
		before := passed[u]
		if q.when[u] == inGraph {
			before = nodes[u : u+1]
		}
		for _, n := range before {
			if len(passed) == 0 || !slices.Contains(deps, n) { // a driver refuses an edge that comes twice
				deps = append(deps, n)
			}
		}
	}
	due := q.marks.counts()
	for _, op := range s.Order {
		deps = deps[:0]
		lane := s.Lane[op]
		if tail[lane] >= 0 {
			depend(tail[lane])
		}
		for _, u := range s.Waits[op] {
			depend(u)
		}
		tail[lane] = op
		if q.when[op] != inGraph {
			passed[op] = slices.Clone(deps)
			continue
		}
		if len(deps) == 0 {
			deps = append(deps, entry...)
		}
		if q.reader != 0 && q.marks.opens[op] {
			deps = append(deps, q.reader)
		}
		if nodes[op], err = q.node(op, deps); err != nil {
			return nil, q.prog.error(op, err)
		}
		if err := q.close(op, nodes, due); err != nil {
			return nil, err
		}
	}
	q.ends = q.ends[:0]
	for _, op := range lastOps(s) {
		if q.when[op] == inGraph {
			q.ends = append(q.ends, nodes[op])
		}
	}
	return nodes, nil
}

// node adds the node of an operation. A disabled loop or branch becomes an empty node.
func (q *sequence) node(op ir.OpID, deps []device.Node) (device.Node, error) {
	if q.prog.sched.Graph.Ops[op].Control != nil {
		if q.prog.work[op].(*device.Copy).Bytes == 0 { // it is off
			return q.dev.AddNode(q.graph, deps, device.Nothing{})
		}
		return q.control(op, deps)
	}
	return q.dev.AddNode(q.graph, deps, q.prog.work[op])
}

// close calls written once all closing writers of an iteration have been added. op was just added;
// due[i] is the number of closing writers of iteration i of the run that have not been added yet.
func (q *sequence) close(op ir.OpID, nodes []device.Node, due []int) (err error) {
	i, ok := q.marks.closes[op]
	if !ok {
		return nil
	}
	if due[i]--; due[i] > 0 {
		return nil
	}
	var behind []device.Node
	for _, last := range q.marks.closing[i] {
		behind = append(behind, nodes[last])
	}
	q.done++
	q.reader, err = q.written(q.done, behind)
	return err
}

// entry returns the nodes that the first operations of a run follow: the ends of the previous run, or
// an empty node that joins them. With e ends and f first operations, direct edges are e·f, and those
// through a join are e+f.
func (q *sequence) entry() ([]device.Node, error) {
	first := len(firstOps(q.prog.sched))
	if len(q.ends)*first <= len(q.ends)+first {
		return q.ends, nil
	}
	join, err := q.dev.AddNode(q.graph, q.ends, device.Nothing{})
	return []device.Node{join}, err
}

// firstOps returns the operations of a schedule that are first on their lane and wait for nothing.
func firstOps(s *ir.Schedule) (first []ir.OpID) {
	seen := make([]bool, s.Lanes)
	for _, op := range s.Order {
		if !seen[s.Lane[op]] && len(s.Waits[op]) == 0 {
			first = append(first, op)
		}
		seen[s.Lane[op]] = true
	}
	return first
}

// lastOps returns the operations of a schedule that are last on their lane and that no other lane
// waits for, in submission order.
func lastOps(s *ir.Schedule) (last []ir.OpID) {
	records := schedules.Records(s)
	final := make([]ir.OpID, s.Lanes)
	for _, op := range s.Order {
		final[s.Lane[op]] = op
	}
	for _, op := range s.Order {
		if final[s.Lane[op]] == op && !records[op] {
			last = append(last, op)
		}
	}
	return last
}
