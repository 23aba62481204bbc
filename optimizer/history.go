package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// history holds the dependencies of a trace so far, and which operations searches found to precede
// the current one.
type history struct {
	deps   []ir.Dep
	causes ir.Causes
	into   []int32   // by operation: the index of its first dependency
	met    []ir.OpID // by operation: the last operation whose search reached it
	queue  []ir.OpID // of a search
	near   []uint64  // by operation: which of the 64 operations before it precede it, the closest in bit 0; nil to keep all dependencies
}

func newHistory(ops int) history {
	return history{into: make([]int32, 0, ops), met: make([]ir.OpID, ops)} // operation 0 has no predecessors
}

// append adds the dependencies of v, the next operation, in the order of their keys.
func (h *history) append(v ir.OpID, waits []wait, order []waitKey) {
	h.into = append(h.into, int32(len(h.deps)))
	h.deps = extend(h.deps, len(order), len(h.into), cap(h.into))
	for _, t := range order {
		w := &waits[t.index()]
		h.deps = append(h.deps, ir.Dep{From: w.from, To: v, Hazard: w.why, Cause: h.causes.ID(w.bytes)})
	}
}

// nearOps is the number of operations that needed looks back, one for each bit of a word.
const nearOps = 64

// needed returns the waits of v, ascending, without those for one of the nearOps operations before v
// that another such wait implies. It is a transitive reduction within a window.
func (h *history) needed(v ir.OpID, order []waitKey) []waitKey {
	if h.near == nil {
		return order
	}
	var near uint64
	kept := len(order)
	for _, t := range slices.Backward(order) {
		if back := uint32(v - t.from()); back <= nearOps {
			bit := uint64(1) << (back - 1)
			if near&bit != 0 {
				continue
			}
			near |= bit | h.near[t.from()]<<back
		}
		kept--
		order[kept] = t
	}
	h.near[v] = near
	return order[kept:]
}

// row returns the range of the dependencies of v.
func (h *history) row(v ir.OpID) (first, end int) {
	if next := int(v) + 1; next < len(h.into) {
		return int(h.into[v]), int(h.into[next])
	}
	return int(h.into[v]), len(h.deps)
}

// search marks operations that precede u, and thereby v, down to the operation earliest. It is breadth-first and
// visits at most budget dependencies, plus those of one operation. It returns the number of dependencies visited.
func (h *history) search(u, v, earliest ir.OpID, budget int) (visits int) {
	h.queue = append(h.queue[:0], u)
	for i := 0; i < len(h.queue) && visits < budget; i++ {
		first, end := h.row(h.queue[i])
		for ; first < end; end-- { // from the latest: dependencies are ascending
			visits++
			w := h.deps[end-1].From
			if w < earliest {
				break
			}
			if !h.before(w, v) {
				h.met[w] = v
				h.queue = append(h.queue, w)
			}
		}
	}
	return visits
}

// before reports whether the search of v, the last operation that searched, found that u precedes v.
func (h *history) before(u, v ir.OpID) bool { return h.met[u] == v }
