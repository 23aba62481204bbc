package dense

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

// MaxMergedChains bounds the matching of ChainPartition, whose relation is a bit matrix of that side:
// 8 MiB.
const MaxMergedChains = 1 << 13

// maxMergeLooks bounds the edges visited in computing the relation: 30 ms of sweeps, and mergeSweeps
// visits of each edge in larger graphs.
const (
	maxMergeLooks = 1 << 22
	mergeSweeps   = 2
)

// Chain is an ascending list of nodes in which a path leads from each to the next.
type Chain []int32

// Head returns the first node.
func (c Chain) Head() int32 { return c[0] }

// Tail returns the last node.
func (c Chain) Tail() int32 { return c[len(c)-1] }

// Chains links matched nodes to chains, in order of their first nodes. A node without partners is a
// chain of one.
func (m *Matching) Chains() []Chain {
	var chains []Chain
	all := make([]int32, 0, len(m.Left)) // which chains are cut from
	for v := range int32(len(m.Left)) {
		if m.Left[v] >= 0 {
			continue // inside a chain
		}
		first := len(all)
		for w := v; w >= 0; w = m.Right[w] {
			all = append(all, w)
		}
		chains = append(chains, all[first:len(all):len(all)])
	}
	return chains
}

// mergeChains joins chains end to head into as few as it can, by a matching of at most limit
// chains. They come and go in order of their heads.
func mergeChains(d *Graph, chains []Chain, limit int) []Chain {
	if !matchable(d, chains, limit) {
		chains = newChainSearch(d, chains).join()
	}
	if !matchable(d, chains, limit) {
		return chains
	}
	merged := mergeGroup(d, chains)
	slices.SortFunc(merged, func(a, b Chain) int { return cmp.Compare(a.Head(), b.Head()) })
	return merged
}

// matchable reports whether the chains' relation is small enough.
func matchable(d *Graph, chains []Chain, limit int) bool {
	return len(chains) <= limit && len(chains)/BlockBits*len(d.To) <= maxMergeLooks+mergeSweeps*len(d.To)
}

// endToEnd is one chain of several.
func endToEnd(chains []Chain, links []int32) Chain {
	if len(links) == 1 {
		return chains[links[0]]
	}
	n := 0
	for _, i := range links {
		n += len(chains[i])
	}
	all := make(Chain, 0, n)
	for _, i := range links {
		all = append(all, chains[i]...)
	}
	return all
}

// mergeGroup merges as many of the chains as can be.
func mergeGroup(d *Graph, chains []Chain) []Chain {
	tails, heads := make([]int32, len(chains)), make([]int32, len(chains))
	for i, c := range chains {
		tails[i], heads[i] = c.Tail(), c.Head()
	}
	follows := d.Reachability(tails, heads) // by chain: those whose heads its tail reaches
	m := maximumMatching(bipartite{NewGraph(len(chains), nil).Rows, follows})
	var merged []Chain
	for _, links := range m.Chains() {
		merged = append(merged, endToEnd(chains, links))
	}
	return merged
}
