package dense

import (
	"cmp"

	"github.com/reprise-gpu/reprise/internal/heap"
)

// Order returns the topological order of the nodes 0..len(key)-1 in which the node with the least key
// comes first of all nodes whose predecessors have come, and the lowest of equal ones. succs returns
// the successors of a node. The order lacks the nodes of cycles and those that cycles lead to, so it is
// shorter than key if the graph has one.
//
// It is Kahn's algorithm with a heap ("Topological sorting of large networks", CACM 1962):
// O(E + V log V).
func Order[ID ~int32, K cmp.Ordered](succs func(ID) []ID, key []K) []ID {
	missing := make([]int32, len(key)) // predecessors that have not come
	for v := range key {
		for _, w := range succs(ID(v)) {
			missing[w]++
		}
	}
	var ready heap.Heap[heap.Entry[K]]
	for v, n := range missing {
		if n == 0 {
			ready.Push(heap.Entry[K]{Key: key[v], ID: int32(v)})
		}
	}
	order := make([]ID, 0, len(key))
	for len(ready) > 0 {
		v := ID(ready.Pop().ID)
		order = append(order, v)
		for _, w := range succs(v) {
			if missing[w]--; missing[w] == 0 {
				ready.Push(heap.Entry[K]{Key: key[w], ID: int32(w)})
			}
		}
	}
	return order
}
