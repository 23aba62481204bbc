package graphexec

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// sequence adds runs of a program to a graph, each after the one before.
type sequence struct {
	dev   device.Device
	graph device.Graph
	prog  *program
	when  []surrounding // by operation

	// For loops and branches: the graph that is launched, whether this one is a body of it, a stream to set their
	// counts on, and who holds what they need.
	top      device.Graph
	nested   bool
	stream   device.Stream
	controls *controls

	ends []device.Node // what the next run follows

	// In a loop, where iterations write its scalar, and what to add behind that in iteration i: a node that
	// the next to write it must not overtake, or 0.
	marks   marks
	written func(i int, behind []device.Node) (device.Node, error)
	done    int         // iterations that have written it
	reader  device.Node // what the next one must not overtake
}

// add adds one run and returns its nodes by operation, 0 for a prefetch. A node depends
// on the operation before it on its lane and on those it waits for: exactly what the
// streams would obey. Who depends on a prefetch depends on what that would have depended on.
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

// node adds the node of an operation.
func (q *sequence) node(op ir.OpID, deps []device.Node) (device.Node, error) {
	if q.prog.sched.Graph.Ops[op].Control != nil {
		if q.prog.work[op].(*device.Copy).Bytes == 0 { // it is off
			return q.dev.AddNode(q.graph, deps, device.Nothing{})
		}
		return q.control(op, deps)
	}
	return q.dev.AddNode(q.graph, deps, q.prog.work[op])
}

// close has something added behind an iteration of which op was the last to write the scalar; due counts,
// by iteration of the run, those that are still to come.
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

// entry is what the first operations of a run follow: the ends of the run before, or a
// node that joins them where that takes fewer edges.
func (q *sequence) entry() ([]device.Node, error) {
	first := len(firstOps(q.prog.sched))
	if len(q.ends)*first <= len(q.ends)+first {
		return q.ends, nil
	}
	join, err := q.dev.AddNode(q.graph, q.ends, device.Nothing{})
	return []device.Node{join}, err
}

// firstOps are the operations of a schedule that wait for nothing.
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

// lastOps are the operations of a schedule that nothing waits for, in the order in which
// they are enqueued.
func lastOps(s *ir.Schedule) (last []ir.OpID) {
	records := s.Records()
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
