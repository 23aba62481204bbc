package tracer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// extents is a set of bytes of one buffer: ascending ranges of which no two overlap or touch.
type extents []extent

type extent struct{ lo, hi int64 }

// add adds the bytes [lo, hi) and merges ranges that they join.
func (s *extents) add(lo, hi int64) {
	if lo >= hi {
		return
	}
	first := slices.IndexFunc(*s, func(e extent) bool { return e.hi >= lo })
	if first < 0 {
		*s = append(*s, extent{lo, hi})
		return
	}
	end := first
	for ; end < len(*s) && (*s)[end].lo <= hi; end++ {
		lo, hi = min(lo, (*s)[end].lo), max(hi, (*s)[end].hi)
	}
	*s = slices.Replace(*s, first, end, extent{lo, hi})
}

// has reports whether the set contains all bytes [lo, hi). One range must hold them, as ranges that touch
// are merged.
func (s extents) has(lo, hi int64) bool {
	return lo >= hi || slices.ContainsFunc(s, func(e extent) bool { return e.lo <= lo && hi <= e.hi })
}

// Unwritten implements traced.Trace. Memory that HostBytes has returned counts as written, and so does all memory of an
// Eager trace, which has run. Other writes are not seen: a device.Write to an address, and work of other traces.
func (tr view) Unwritten() string {
	if tr.Trace == nil || tr.t == nil || tr.t.mode == Eager {
		return ""
	}
	written := make([]extents, len(tr.Graph.Buffers))
	for id := range written {
		written[id] = slices.Clone(tr.t.buffers[id].written)
	}
	for _, m := range tr.t.modules {
		for _, s := range m.symbols { // loading has initialized it
			written[s.Buffer].add(0, tr.Graph.Buffers[s.Buffer].Size())
		}
	}
	for v := range tr.Graph.Ops {
		if a := unwritten(&tr.Graph.Ops[v], written); a != nil {
			return tr.Graph.Buffers[a.Buffer].Name
		}
	}
	return ""
}

// unwritten returns an access of op that reads unwritten bytes, and adds the bytes that op writes. It
// ignores host functions, since a rehearsal calls none, and prefetches, which keep contents.
func unwritten(op *ir.Op, written []extents) *ir.Access {
	if op.Kind == ir.KindHost || op.Kind == ir.KindPrefetch {
		return nil
	}
	var scratch [2]ir.Access
	accesses := op.Accesses(&scratch)
	for i := range accesses {
		if a := &accesses[i]; a.Mode.Reads() && !written[a.Buffer].has(a.Lo, a.Hi) {
			return a
		}
	}
	for i := range accesses {
		if a := &accesses[i]; a.Mode.Writes() {
			written[a.Buffer].add(a.Lo, a.Hi)
		}
	}
	return nil
}
