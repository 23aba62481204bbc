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
	tails, heads := make([]int32, len(chains)), make([]int32, len(chains))
	for i, c := range chains {
		tails[i], heads[i] = c.tail(), c.head()
	}
	m := maximumMatching(follows(d.reachability(tails, heads)))
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

// follows is the relation between chains as a bipartite graph: row i holds the
// chains whose heads the tail of i reaches. A cursor is a column.
type follows []bitset

func (f follows) len() int { return len(f) }

func (f follows) begin(int32) int32 { return 0 }

func (f follows) next(u, cursor int32, open bitset) (v, after int32) {
	if v = int32(f[u].nextIn(open, int(cursor))); v < 0 {
		return -1, cursor
	}
	return v, v + 1
}
