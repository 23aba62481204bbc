package rewrite

import "github.com/reprise-gpu/reprise/internal/ptx"

// tree emits the leaves from lo to hi behind a binary tree of comparisons: leaf i is for an
// index of at least bounds[i] and below bounds[i+1].
func (e *emitter) tree(index ptx.Operand, bounds []uint32, lo, hi int, leaf func(int)) {
	if hi-lo == 1 {
		leaf(lo)
		return
	}
	mid := (lo + hi) / 2
	p, above := e.reg("above", ptx.Pred), e.newLabel("from")
	e.emit("setp.ge.u32", p, index, number(bounds[mid]))
	e.guarded(when(p), "bra.uni", label(above))
	e.tree(index, bounds, lo, mid, leaf)
	e.place(above)
	e.tree(index, bounds, mid, hi, leaf)
}

// blockOf computes the coordinates of a block in its grid, from its index in the launch and the
// index of the grid's first block.
func (e *emitter) blockOf(index ptx.Operand, first uint32, grid [3]uint32, used map[string]bool, vals values) {
	if first > 0 && readsAny(used, "%ctaid", grid) {
		rest := e.reg("index", ptx.B32)
		e.emit("sub.u32", rest, index, number(first))
		index = rest
	}
	e.split(index, "%ctaid", "%nctaid", grid, used, vals)
}

// readsAny reports whether a coordinate is read along an axis that is longer than 1.
func readsAny(used map[string]bool, name string, extents [3]uint32) bool {
	for i, n := range extents {
		if n > 1 && used[name+axes[i]] {
			return true
		}
	}
	return false
}

// split computes the coordinates that belong to a linear index, x first. at and extent are the
// names of the special registers. Coordinates that are not read are left out, and so are
// divisions that only they need.
func (e *emitter) split(index ptx.Operand, at, extent string, n [3]uint32, used map[string]bool, vals values) {
	last, longest := -1, 0
	for i := range axes {
		vals[extent+axes[i]] = number(n[i])
		vals[at+axes[i]] = number(0)
		if n[i] > 1 {
			longest = i
			if used[at+axes[i]] {
				last = i
			}
		}
	}
	for i := 0; i <= last; i++ {
		switch {
		case n[i] == 1:
		case i == longest:
			vals[at+axes[i]] = index
		default:
			q := e.divide(index, n[i])
			if used[at+axes[i]] {
				vals[at+axes[i]] = e.remainder(index, q, n[i])
			}
			index = q
		}
	}
}
