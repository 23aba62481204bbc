package optimizer

import (
	"cmp"
	"slices"
)

// reachability returns, by source, the set of indices of the targets that a path
// of at least one edge leads to. Targets ascend.
//
// It makes the same sweeps as the blocked reduction, 512 targets at a time, over the ranks from the lowest source
// to the last of these targets, for nothing else lies on a path between the two.
func (d *dag) reachability(sources, targets []int32) []bitset {
	rows := make([]bitset, len(sources))
	descending := make([]int32, len(sources)) // indices of the sources
	for i := range sources {
		rows[i] = newBitset(len(targets))
		descending[i] = int32(i)
	}
	slices.SortFunc(descending, func(a, b int32) int { return cmp.Compare(sources[b], sources[a]) })
	s := newTargetSweep(d)
	for first := 0; first < len(targets) && len(sources) > 0; first += blockBits {
		left := descending
		low := sources[left[len(left)-1]]
		s.run(targets[first:min(first+blockBits, len(targets))], low, func(v int32, reached *block) {
			for len(left) > 0 && sources[left[0]] >= v {
				if i := left[0]; sources[i] == v { // others come after these targets
					copy(rows[i][first/64:], reached[:])
				}
				left = left[1:]
			}
		})
	}
	return rows
}

// targetSweep finds what reaches up to 512 targets at a time. It keeps a block for each of the ranks that an edge can span,
// which for short edges fit a cache.
type targetSweep struct {
	d    *dag
	ring ring[block]
}

func newTargetSweep(d *dag) *targetSweep { return &targetSweep{d, newRing[block](d.span())} }

// run calls visit for each rank from the last of the targets, which ascend, down to low, with the targets that its edges lead to.
func (s *targetSweep) run(targets []int32, low int32, visit func(v int32, reached *block)) {
	last := targets[len(targets)-1]
	left := len(targets) - 1
	for v := last; v >= low; v-- {
		own := s.ring.at(v)
		*own = block{}
		for _, w := range s.d.succs(v) {
			if w > last {
				break
			}
			own.or(s.ring.at(w))
		}
		visit(v, own)
		if left >= 0 && targets[left] == v {
			own.set(int32(left))
			left--
		}
	}
}
