package optimizer

// reachability returns, by source, the set of indices of the targets that a path
// of at least one edge leads to. Targets ascend.
//
// It makes the same sweeps as the blocked reduction: 512 targets at a time, and
// 64 bytes per rank from the lowest source to the last of these targets, for
// nothing else lies on a path between the two.
func (d *dag) reachability(sources, targets []int32) []bitset {
	rows := make([]bitset, len(sources))
	low := int32(d.len())
	for i, v := range sources {
		rows[i] = newBitset(len(targets))
		low = min(low, v)
	}
	var reach []block // by rank from low
	for first := 0; first < len(targets); first += blockBits {
		columns := targets[first:min(first+blockBits, len(targets))]
		n := int(columns[len(columns)-1] - low + 1)
		if n <= 0 {
			continue // no source comes before these targets
		}
		if n > len(reach) {
			reach = make([]block, n)
		}
		d.sweepTargets(columns, low, reach[:n])
		for i, v := range sources {
			if int(v-low) < n {
				copy(rows[i][first/64:], reach[v-low][:])
			}
		}
	}
	return rows
}

// sweepTargets sets reach, by rank from low, to the targets that a rank's edges
// lead to.
func (d *dag) sweepTargets(targets []int32, low int32, reach []block) {
	column := filled(len(reach), -1)
	for i, v := range targets {
		if v >= low {
			column[v-low] = int32(i)
		}
	}
	for i := len(reach) - 1; i >= 0; i-- {
		own := &reach[i]
		*own = block{}
		for _, w := range d.succs(low + int32(i)) {
			j := int(w - low)
			if j >= len(reach) {
				break
			}
			own.or(&reach[j])
			if column[j] >= 0 {
				own.set(column[j])
			}
		}
	}
}
