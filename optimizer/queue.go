package optimizer

import "cmp"

// queue is a binary heap: pop returns what has the least key, then the least id.
// container/heap would box every element.
type queue[K cmp.Ordered] []queued[K]

type queued[K cmp.Ordered] struct {
	key K
	id  int32
}

func (a queued[K]) before(b queued[K]) bool {
	return a.key < b.key || a.key == b.key && a.id < b.id
}

func (q *queue[K]) push(key K, id int32) {
	*q = append(*q, queued[K]{key, id})
	s := *q
	for i := len(s) - 1; i > 0; {
		parent := (i - 1) / 2
		if !s[i].before(s[parent]) {
			return
		}
		s[i], s[parent] = s[parent], s[i]
		i = parent
	}
}

func (q *queue[K]) pop() queued[K] {
	s := *q
	top, last := s[0], len(s)-1
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
	*q = s
	return top
}
