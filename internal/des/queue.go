package des

import "github.com/reprise-gpu/reprise/internal/heap"

// entry is an event: at time (or rank) at, of task id. Ties go to the lower
// priority value, then to the lower id, so the order of events is total.
type entry struct {
	at   Time
	prio int32
	id   TaskID
}

// Before implements heap.Ordered.
func (a entry) Before(b entry) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	if a.prio != b.prio {
		return a.prio < b.prio
	}
	return a.id < b.id
}

// queue is a heap of events.
type queue struct{ heap.Heap[entry] }

// next is the time of the first event, or never.
func (q queue) next() Time {
	if len(q.Heap) == 0 {
		return never
	}
	return q.Heap[0].at
}
