package des

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/heap"
)

// entry is an event of task id at time (or rank) at. Ties are resolved by the lower priority value, then by the lower
// id, so that the order of events is total.
type entry struct {
	at   model.Time
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

// next returns the time of the first event, or never.
func (q queue) next() model.Time {
	if len(q.Heap) == 0 {
		return never
	}
	return q.Heap[0].at
}
