package des

// entry is an event: at time (or rank) at, of task id. Ties go to the lower
// priority value, then to the lower id, so the order of events is total.
type entry struct {
	at   Time
	prio int32
	id   TaskID
}

func (a entry) before(b entry) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	if a.prio != b.prio {
		return a.prio < b.prio
	}
	return a.id < b.id
}

type ordered[T any] interface{ before(T) bool }

// heap is a binary heap. container/heap would box every element: one
// allocation per event.
type heap[T ordered[T]] []T

func (h *heap[T]) push(x T) {
	s := append(*h, x)
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !s[i].before(s[parent]) {
			break
		}
		s[i], s[parent] = s[parent], s[i]
		i = parent
	}
	*h = s
}

func (h *heap[T]) pop() T {
	s := *h
	top := s[0]
	last := len(s) - 1
	s[0] = s[last]
	s = s[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(s); child++ {
			if s[child].before(s[least]) {
				least = child
			}
		}
		if least == i {
			break
		}
		s[i], s[least] = s[least], s[i]
		i = least
	}
	*h = s
	return top
}

// queue is a heap of events.
type queue struct{ heap[entry] }

// next is the time of the first event, or never.
func (q queue) next() Time {
	if len(q.heap) == 0 {
		return never
	}
	return q.heap[0].at
}
