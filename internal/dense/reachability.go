package dense

import (
	"cmp"
	"slices"
)

// Reachability returns, by source, the set of indices of the targets that a path
// of at least one edge leads to. The targets are in ascending order.
//
// It makes the same sweeps as the blocked reduction, 512 targets at a time, over the ranks from the lowest source
// to the last of these targets, for nothing else lies on a path between the two.
func (d *Graph) Reachability(sources, targets []int32) []Set {
	rows := make([]Set, len(sources))
	descending := make([]int32, len(sources)) // indices of the sources
	for i := range sources {
		rows[i] = NewSet(len(targets))
		descending[i] = int32(i)
	}
	slices.SortFunc(descending, func(a, b int32) int { return cmp.Compare(sources[b], sources[a]) })
	s := NewSweep(d)
	for first := 0; first < len(targets) && len(sources) > 0; first += BlockBits {
		left := descending
		low := sources[left[len(left)-1]]
		s.Run(targets[first:min(first+BlockBits, len(targets))], low, func(v int32, reached *Block) {
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

// Ancestors returns r and the nodes from which paths lead to r.
func (d *Graph) Ancestors(r int32) Set {
	set := NewSet(d.Len())
	set.Add(int(r))
	for u := r - 1; u >= 0; u-- {
		for _, v := range d.Succs(u) {
			if set.Has(int(v)) {
				set.Add(int(u))
				break
			}
		}
	}
	return set
}

// Descendants returns r and the nodes to which paths lead from r.
func (d *Graph) Descendants(r int32) Set {
	set := NewSet(d.Len())
	set.Add(int(r))
	for u := set.Next(int(r)); u >= 0; u = set.Next(u + 1) {
		for _, v := range d.Succs(int32(u)) {
			set.Add(int(v))
		}
	}
	return set
}
