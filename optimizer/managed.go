package optimizer

import (
	"slices"
	"sort"

	"github.com/reprise-gpu/reprise/ir"
)

// pageBytes is the unit of migration of managed memory, as on the simulated device.
const pageBytes = 64 << 10

// migrations returns, by operation, how many bytes of managed memory it migrates, assuming program
// order. Buffers that the program sets before a replay are on the host when the replay begins. Results are
// assumed to have stayed on the device, because it is unknown how much of them the host has read. A launch
// migrates the pages that it accesses, or whole buffers if whole is set. A prefetch migrates the missing pages
// of its range. Copies and fills migrate nothing.
func migrations(g *ir.Graph, whole bool) []float64 {
	// home holds, by buffer, the pages that are on the host.
	home := make([]spans, len(g.Buffers))
	for i := range g.Buffers {
		if b := &g.Buffers[i]; b.Place.Kind == ir.Managed && set(b.Role) {
			home[i] = spans{{0, b.Size()}}
		}
	}
	moved := make([]float64, g.Len())
	for v := range g.Ops {
		op := &g.Ops[v]
		switch op.Kind {
		case ir.KindLaunch:
			for _, a := range op.Uses {
				r := pages(g, a.Range)
				if whole && r != (span{}) {
					r = span{0, g.Buffers[a.Buffer].Size()}
				}
				moved[v] += float64(home[a.Buffer].remove(r))
			}
		case ir.KindPrefetch:
			r := op.Prefetch.Range
			n := home[r.Buffer].remove(pages(g, r))
			if !op.Prefetch.ToDevice {
				n = home[r.Buffer].insert(pages(g, r)) - n
			}
			moved[v] = float64(n)
		}
	}
	return moved
}

// set reports whether the program sets a buffer before a replay.
func set(r ir.Role) bool { return r == ir.Input || r == ir.InOut }

// pages returns a range rounded out to pages of its buffer.
func pages(g *ir.Graph, r ir.Range) span {
	if r.Empty() {
		return span{}
	}
	last := (r.Hi - 1) &^ (pageBytes - 1)
	return span{r.Lo &^ (pageBytes - 1), last + min(pageBytes, g.Buffers[r.Buffer].Size()-last)}
}

// span is the bytes [lo, hi) of a buffer.
type span struct{ lo, hi int64 }

// spans is a set of bytes as sorted, disjoint spans.
type spans []span

// remove removes the bytes of cut and returns how many of them were in the set.
func (s *spans) remove(cut span) (bytes int64) {
	if cut.lo >= cut.hi {
		return 0
	}
	i := sort.Search(len(*s), func(i int) bool { return (*s)[i].hi > cut.lo })
	var edges []span
	j := i
	for ; j < len(*s) && (*s)[j].lo < cut.hi; j++ {
		had := (*s)[j]
		bytes += min(had.hi, cut.hi) - max(had.lo, cut.lo)
		if had.lo < cut.lo {
			edges = append(edges, span{had.lo, cut.lo})
		}
		if cut.hi < had.hi {
			edges = append(edges, span{cut.hi, had.hi})
		}
	}
	*s = slices.Replace(*s, i, j, edges...)
	return bytes
}

// insert adds bytes, none of which may be in the set, and returns their number.
func (s *spans) insert(b span) (bytes int64) {
	if b.lo >= b.hi {
		return 0
	}
	i := sort.Search(len(*s), func(i int) bool { return (*s)[i].lo >= b.hi })
	*s = slices.Insert(*s, i, b)
	return b.hi - b.lo
}

// overlaps reports whether the set contains a byte of b.
func (s spans) overlaps(b span) bool {
	i := sort.Search(len(s), func(i int) bool { return s[i].hi > b.lo })
	return i < len(s) && s[i].lo < b.hi
}
