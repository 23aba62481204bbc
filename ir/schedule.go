package ir

import (
	"iter"
	"slices"
)

// Schedule says how to run a graph: every operation's lane, its turn, and the
// operations on other lanes it waits for. An executor reads nothing else.
//
// Work on one lane runs in the order of Order; work on different lanes is
// unordered but for the waits. Together the two imply every dependency, and so they
// do without the delays: waits that are there for the time alone, so that operations
// which contend for the device do not run at once.
type Schedule struct {
	Graph     *Graph
	Strategy  string
	Profile   string // device profile behind Predicted, "" when there is no prediction
	Predicted int64  // makespan of one replay in nanoseconds

	Lanes    int
	Order    []OpID               // submission order over all lanes, a permutation of the operations
	Lane     []LaneID             // by operation
	Waits    [][]OpID             // by operation: operations on other lanes to wait for, ascending
	Delays   [][]OpID             // by operation: those of its waits that no dependency needs, ascending; nil for none
	Priority []int32              // by operation, lower gets multiprocessors first; of launches alone, nil when all are equal
	Joined   []bool               // by operation: over streams it is launched with the one before it on its lane; nil for none
	Bodies   map[OpID][]*Schedule // by loop and branch: the schedules of its bodies; nil without any
	Offset   []int64              // by buffer: byte offset in the arena, -1 for its own allocation; nil without a plan
}

// Syncs is the number of waits: the event dependencies a replay pays for.
func (s *Schedule) Syncs() int {
	n := 0
	for _, w := range s.Waits {
		n += len(w)
	}
	return n
}

// needed is, by operation, its waits that are no delays, ascending.
func (s *Schedule) needed(v OpID) []OpID {
	if s.Delays == nil || len(s.Delays[v]) == 0 {
		return s.Waits[v]
	}
	return slices.DeleteFunc(slices.Clone(s.Waits[v]), func(u OpID) bool { return slices.Contains(s.Delays[v], u) })
}

// Records reports, by operation, whether another lane waits for it, so that an
// event must be recorded behind it.
func (s *Schedule) Records() []bool {
	rec := make([]bool, s.Graph.Len())
	for _, w := range s.Waits {
		for _, u := range w {
			rec[u] = true
		}
	}
	return rec
}

// Groups are the operations that are launched together, in the order of the lane: one that is not
// joined, and those behind it that are. Groups come in the order of submission of their first. The
// slice is good until the next.
func (s *Schedule) Groups() iter.Seq[[]OpID] {
	return func(yield func([]OpID) bool) {
		behind := s.behind()
		var group []OpID
		for i, v := range s.Order {
			if s.Joined == nil {
				group = s.Order[i : i+1]
			} else if s.Joined[v] {
				continue
			} else {
				group = group[:0]
				for ; v >= 0; v = behind[v] {
					group = append(group, v)
				}
			}
			if !yield(group) {
				return
			}
		}
	}
}

// behind is, by operation, the next on its lane if that is joined to it, and -1; nil when
// nothing is joined.
func (s *Schedule) behind() []OpID {
	if s.Joined == nil {
		return nil
	}
	behind, last := make([]OpID, len(s.Order)), make([]OpID, s.Lanes)
	for lane := range last {
		last[lane] = -1
	}
	for _, v := range s.Order {
		behind[v] = -1
		if u := last[s.Lane[v]]; s.Joined[v] && u >= 0 {
			behind[u] = v
		}
		last[s.Lane[v]] = v
	}
	return behind
}
