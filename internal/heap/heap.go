// Package heap has binary heaps of values. The standard library's container/heap stores elements in
// interfaces, which takes an allocation for each.
package heap

import "cmp"

// Ordered is a type with a total order.
type Ordered[T any] interface {
	// Before reports whether the value comes out of a heap before another.
	Before(T) bool
}

// Heap is a binary heap, empty as its zero value. The element at index 0 is the first in the order of
// Before. Push and Pop take O(log n).
type Heap[T Ordered[T]] []T

// Push adds x.
func (h *Heap[T]) Push(x T) {
	s := append(*h, x)
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !s[i].Before(s[parent]) {
			break
		}
		s[i], s[parent] = s[parent], s[i]
		i = parent
	}
	*h = s
}

// Pop removes and returns the first element. The heap must not be empty.
func (h *Heap[T]) Pop() T {
	s := *h
	top := s[0]
	last := len(s) - 1
	s[0] = s[last]
	s = s[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(s); child++ {
			if s[child].Before(s[least]) {
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

// Entry is a number with a key. Entries come in the order of their keys, and of their numbers where
// keys are equal.
type Entry[K cmp.Ordered] struct {
	Key K
	ID  int32
}

// Before implements Ordered.
func (a Entry[K]) Before(b Entry[K]) bool {
	return a.Key < b.Key || a.Key == b.Key && a.ID < b.ID
}
