package ir

import "slices"

// Schedule is a plan to run a graph: the lane of every operation, its turn, and the operations on other lanes
// that it waits for. An executor reads nothing else.
//
//	lane 0   %0 ───────► %1 ─────────► %4         Order  %0 %1 %2 %3 %4
//	          ╲                       ▲           Waits  %2: [%0], %4: [%3]
//	lane 1     ► %2 ──────► %3 ──────╱
//
// Operations on one lane run in the order of Order. Operations on different lanes are ordered by waits only.
// The lanes and the waits that are not delays imply every dependency. A delay is a wait for performance:
// it keeps operations that contend for the device from running at the same time.
type Schedule struct {
	Graph     *Graph
	Strategy  string
	Profile   string // device profile of the prediction; "" if there is none
	Predicted int64  // predicted makespan of one replay, in nanoseconds

	Lanes    int
	Order    []OpID               // submission order over all lanes, a permutation of the operations
	Lane     []LaneID             // by operation
	Waits    [][]OpID             // by operation: operations on other lanes to wait for, ascending
	Delays   [][]OpID             // by operation: the waits that no dependency requires, ascending; nil for none
	Priority []int32              // by operation, for launches: the lowest gets multiprocessors first; nil if all are equal
	Joined   []bool               // by operation: on streams, launched together with the one before it on its lane; nil for none
	Bodies   map[OpID][]*Schedule // by loop and branch: the schedules of its bodies; nil for none
	Offset   []int64              // by buffer: offset in the arena in bytes, -1 for its own allocation; nil without an arena

	// Segments divides Order into pieces that can be replayed one by one, with other work in between. Each entry is
	// a granularity, the finest first. A piece of one granularity consists of whole pieces of the one before. Since
	// Order is topological, the operations up to the end of a piece are closed under predecessors. It is nil
	// for a schedule that is replayed as a whole.
	Segments []struct {
		Limit  int64 // predicted time that pieces do not exceed unless they are oversize, in nanoseconds
		Pieces []struct {
			End       int    // number of operations in Order up to the end of the piece
			Predicted int64  // predicted time on the device, without the launch, in nanoseconds
			Bound     string // "compute" or "memory", what the time is predicted to depend on; "" if unknown
			Oversize  string // why the piece takes longer than Limit; "" if it does not
		}
	}
}

// Syncs returns the number of waits, each of which costs a replay an event or an edge between lanes.
func (s *Schedule) Syncs() int {
	n := 0
	for _, w := range s.Waits {
		n += len(w)
	}
	return n
}

// needed returns the waits of v that are not delays, ascending.
func (s *Schedule) needed(v OpID) []OpID {
	if s.Delays == nil || len(s.Delays[v]) == 0 {
		return s.Waits[v]
	}
	return slices.DeleteFunc(slices.Clone(s.Waits[v]), func(u OpID) bool { return slices.Contains(s.Delays[v], u) })
}
