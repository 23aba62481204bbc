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

// That relation is quadratic in the chains. Many chains are first joined by a search that is near
// linear (see chainSearch), and what is left by a matching if it is few enough. The lanes may then
// be more than the chains' own optimum.

// maxMergedChains bounds the matching: its relation is a bit matrix of that side, 8 MiB.
const maxMergedChains = 1 << 13

// maxMergeLooks bounds the edges visited in computing the relation: 30 ms of sweeps, and mergeSweeps
// visits of each edge in larger graphs.
const (
	maxMergeLooks = 1 << 22
	mergeSweeps   = 2
)

// chain is a run of ranks in which each reaches the next.
type chain []int32

func (c chain) head() int32 { return c[0] }
func (c chain) tail() int32 { return c[len(c)-1] }

// chainsOf strings matched nodes together; a node without partners is a chain
// by itself. They come in order of their heads.
func chainsOf(m *matching) []chain {
	var chains []chain
	all := make([]int32, 0, len(m.left)) // which chains are cut from
	for v := range int32(len(m.left)) {
		if m.left[v] >= 0 {
			continue // inside a chain
		}
		first := len(all)
		for w := v; w >= 0; w = m.right[w] {
			all = append(all, w)
		}
		chains = append(chains, all[first:len(all):len(all)])
	}
	return chains
}

// mergeChains joins chains end to head into as few as it can, by a matching of at most limit
// chains. They come and go in order of their heads.
func mergeChains(d *dag, chains []chain, limit int) []chain {
	if !matchable(d, chains, limit) {
		chains = newChainSearch(d, chains).join()
	}
	if !matchable(d, chains, limit) {
		return chains
	}
	merged := mergeGroup(d, chains)
	slices.SortFunc(merged, func(a, b chain) int { return cmp.Compare(a.head(), b.head()) })
	return merged
}

// matchable reports whether the chains' relation is small enough.
func matchable(d *dag, chains []chain, limit int) bool {
	return len(chains) <= limit && len(chains)/blockBits*len(d.to) <= maxMergeLooks+mergeSweeps*len(d.to)
}

// endToEnd is one chain of several.
func endToEnd(chains []chain, links []int32) chain {
	if len(links) == 1 {
		return chains[links[0]]
	}
	n := 0
	for _, i := range links {
		n += len(chains[i])
	}
	all := make(chain, 0, n)
	for _, i := range links {
		all = append(all, chains[i]...)
	}
	return all
}

// mergeGroup merges as many of the chains as can be.
func mergeGroup(d *dag, chains []chain) []chain {
	tails, heads := make([]int32, len(chains)), make([]int32, len(chains))
	for i, c := range chains {
		tails[i], heads[i] = c.tail(), c.head()
	}
	follows := d.reachability(tails, heads) // by chain: those whose heads its tail reaches
	m := maximumMatching(bipartite{newDAG(len(chains), nil), follows})
	var merged []chain
	for _, links := range chainsOf(m) {
		merged = append(merged, endToEnd(chains, links))
	}
	return merged
}
