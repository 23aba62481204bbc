package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// past is the dependencies of a trace so far, and what a search of them finds to come
// before the operation at hand.
type past struct {
	deps   []ir.Dep
	causes ir.Causes
	into   []int32   // by operation: the index of its first dependency
	met    []ir.OpID // by operation: the last whose search met it
	queue  []ir.OpID // of a search
	near   []uint64  // by operation: which of the 64 before it come before it, the last in bit 0; nil for who wants all dependencies
}

func newPast(ops int) past {
	return past{into: make([]int32, 0, ops), met: make([]ir.OpID, ops)} // nobody comes before 0
}

// append adds the dependencies of v, the next operation, in their order.
func (p *past) append(v ir.OpID, waits []wait, order []turn) {
	p.into = append(p.into, int32(len(p.deps)))
	p.deps = extend(p.deps, len(order), len(p.into), cap(p.into))
	for _, t := range order {
		w := &waits[t.index()]
		p.deps = append(p.deps, ir.Dep{From: w.from, To: v, Hazard: w.why, Cause: p.causes.ID(w.bytes)})
	}
}

// nearOps is the number of operations that needed looks back: a word has a bit for each.
const nearOps = 64

// needed returns the waits of v, which ascend, without those for one of the nearOps operations before
// it that another of them implies. It is the window of the reduction, looking back.
func (p *past) needed(v ir.OpID, order []turn) []turn {
	if p.near == nil {
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
			near |= bit | p.near[t.from()]<<back
		}
		kept--
		order[kept] = t
	}
	p.near[v] = near
	return order[kept:]
}

// row is where the dependencies of v are.
func (p *past) row(v ir.OpID) (first, end int) {
	if next := int(v) + 1; next < len(p.into) {
		return int(p.into[v]), int(p.into[next])
	}
	return int(p.into[v]), len(p.deps)
}

// search meets what comes before u, and so before v, though not before the earliest. It
// goes by the number of steps, looks at no more dependencies than it may, give or take those
// of one operation, and returns at how many it did.
func (p *past) search(u, v, earliest ir.OpID, budget int) (looks int) {
	p.queue = append(p.queue[:0], u)
	for i := 0; i < len(p.queue) && looks < budget; i++ {
		first, end := p.row(p.queue[i])
		for ; first < end; end-- { // they ascend
			looks++
			w := p.deps[end-1].From
			if w < earliest {
				break
			}
			if !p.before(w, v) {
				p.met[w] = v
				p.queue = append(p.queue, w)
			}
		}
	}
	return looks
}

// before reports whether u was found to come before v, the last to search.
func (p *past) before(u, v ir.OpID) bool { return p.met[u] == v }
