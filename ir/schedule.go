package ir

// Schedule says how to run a graph: every operation's lane, its turn, and the
// operations on other lanes it waits for. An executor reads nothing else.
//
// Work on one lane runs in the order of Order; work on different lanes is
// unordered but for the waits. Together the two imply every dependency.
type Schedule struct {
	Graph     *Graph
	Strategy  string
	Profile   string // device profile behind Predicted, "" when there is no prediction
	Predicted int64  // makespan of one replay in nanoseconds

	Lanes    int
	Order    []OpID   // submission order over all lanes, a permutation of the operations
	Lane     []LaneID // by operation
	Waits    [][]OpID // by operation: operations on other lanes to wait for, ascending
	Priority []int32  // by operation, lower gets multiprocessors first; of launches alone, nil when all are equal
	Offset   []int64  // by buffer: byte offset in the arena, -1 for its own allocation; nil without a plan
}

// Syncs is the number of waits: the event dependencies a replay pays for.
func (s *Schedule) Syncs() int {
	n := 0
	for _, w := range s.Waits {
		n += len(w)
	}
	return n
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
