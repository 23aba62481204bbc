package dense

// windowRanks is the length of the edges that the window decides: a word has a bit for each rank.
const windowRanks = 64

// window marks what is redundant among the edges of at most windowRanks ranks, and returns
// how many of the longer ones are contested. A word per node says which of the ranks
// behind it the node reaches:
//
//	rank    u  u+1 u+2 u+3 u+4          the row of u ascends, so u+3 is judged when what
//	        └───►───────►               lies behind u+1 is known: is u+1 ─► u+3 the other way?
//	bit         0   1   2   3           reach(u) = bit 0 | reach(u+1) << 1 | ...
//
// That is exact, however long the other edges are: all of a path runs between the ranks of its
// ends, so none of its edges is longer than the one that it implies.
func (r *Reduction) window() (open int) {
	d := r.Graph
	reach := make([]uint64, d.Len())
	for u := int32(d.Len()) - 1; u >= 0; u-- {
		var own uint64
		for e := d.First[u]; e < d.First[u+1]; e++ {
			v := d.To[e]
			if v-u > windowRanks {
				break
			}
			if bit := uint64(1) << uint32(v-u-1); own&bit == 0 {
				own |= bit | reach[v]<<uint32(v-u)
			} else {
				r.Redundant[e] = true
				r.in[v]--
			}
		}
		reach[u] = own
	}
	r.decided = windowRanks
	return r.countContested()
}

func (r *Reduction) countContested() (n int) {
	for u := range int32(r.Graph.Len()) {
		row := r.Graph.Succs(u)
		for i := len(row) - 1; i > 0 && row[i]-u > r.decided; i-- {
			if r.contested(u, i, row[i]) {
				n++
			}
		}
	}
	return n
}
