package optimizer

import (
	"cmp"
	"slices"
)

// Merging of chains into fewer, longer ones. A chain can follow another on the
// same lane at no cost to concurrency when the other's tail reaches its head:
//
//	a ─► b ─► c          chain [a b], chain [c d]: b reaches c, so one lane
//	      ╲              [a b c d] keeps all the concurrency there is
//	       ► x ─► d
//
// Which tail reaches which head is a relation that is transitive, so the fewest
// lanes that a set of chains can be merged into is again their number less a
// maximum matching, now on that relation (Dilworth by Fulkerson's reduction).

// maxMergedChains bounds one step of merging: its relation is a bit matrix of
// that side, 8 MiB. More chains than that are merged in groups of neighbours,
// again and again while that helps; each step is still exact for its group, but
// the lanes of the result may then be more than the chains' own optimum.
const maxMergedChains = 1 << 13

// chain is a run of ranks in which each reaches the next.
type chain []int32

func (c chain) head() int32 { return c[0] }
func (c chain) tail() int32 { return c[len(c)-1] }

// chainsOf strings matched nodes together; a node without partners is a chain
// by itself. They come in order of their heads.
func chainsOf(m *matching) []chain {
	var chains []chain
	for v := range int32(len(m.left)) {
		if m.left[v] >= 0 {
			continue // inside a chain
		}
		c := chain{v}
		for w := m.right[v]; w >= 0; w = m.right[w] {
			c = append(c, w)
		}
		chains = append(chains, c)
	}
	return chains
}

// mergeChains joins chains end to head into as few as it can, at most limit of
// them in one step. They come and go in order of their heads.
func mergeChains(d *dag, chains []chain, limit int) []chain {
	for {
		before := len(chains)
		var merged []chain
		for group := range slices.Chunk(chains, limit) {
			merged = append(merged, mergeGroup(d, group)...)
		}
		slices.SortFunc(merged, func(a, b chain) int { return cmp.Compare(a.head(), b.head()) })
		chains = merged
		if before <= limit || len(chains) == before {
			return chains
		}
	}
}

// mergeGroup merges as many of the chains as can be.
func mergeGroup(d *dag, chains []chain) []chain {
	m := maximumMatching(newFollows(d, chains))
	var merged []chain
	for _, links := range chainsOf(m) {
		joined := chains[links[0]]
		for _, i := range links[1:] {
			joined = append(joined, chains[i]...)
		}
		merged = append(merged, joined)
	}
	return merged
}

// follows is the relation between chains: row i holds the chains whose heads the
// tail of i reaches.
type follows struct {
	rows []bitset
}

func (f *follows) len() int { return len(f.rows) }

func (f *follows) begin(int32) int32 { return 0 }

func (f *follows) next(u, cursor int32) (v, after int32) {
	v = int32(f.rows[u].next(int(cursor)))
	return v, v + 1
}

// newFollows computes the relation by the same sweeps as the blocked reduction:
// 512 heads at a time, and 64 bytes per rank from the lowest tail to the last of
// these heads, for nothing else lies on a path between the two.
func newFollows(d *dag, chains []chain) *follows {
	f := &follows{rows: make([]bitset, len(chains))}
	low := chains[0].tail()
	for i, c := range chains {
		f.rows[i] = newBitset(len(chains))
		low = min(low, c.tail())
	}
	var reach []block // by rank from low
	for first := 0; first < len(chains); first += blockBits {
		heads := chains[first:min(first+blockBits, len(chains))]
		n := int(heads[len(heads)-1].head() - low + 1)
		if n <= 0 {
			continue // no tail comes before these heads
		}
		if n > len(reach) {
			reach = make([]block, n)
		}
		sweepHeads(d, heads, low, reach[:n])
		for i, c := range chains {
			if t := int(c.tail() - low); t < n {
				copy(f.rows[i][first/64:], reach[t][:])
			}
		}
	}
	for i, c := range chains {
		if len(c) == 1 { // its own tail and head, but it does not follow itself
			f.rows[i].clear(i)
		}
	}
	return f
}

// sweepHeads sets reach, by rank from low, to the heads that a rank reaches or is.
func sweepHeads(d *dag, heads []chain, low int32, reach []block) {
	next := len(heads) - 1
	for i := len(reach) - 1; i >= 0; i-- {
		v := low + int32(i)
		reach[i] = block{}
		if next >= 0 && heads[next].head() == v {
			reach[i].set(int32(next))
			next--
		}
		for _, w := range d.succs(v) {
			if int(w-low) >= len(reach) {
				break
			}
			reach[i].or(&reach[w-low])
		}
	}
}
