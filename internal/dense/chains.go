package dense

import (
	"cmp"
	"slices"
)

// Merging of chains into fewer, longer ones. A chain can follow another on the
// same lane at no cost to concurrency when the other's tail reaches its head:
//
//	a ─► b ─► c          chain [a b], chain [c d]: b reaches c, so one lane
//	      ╲              [a b c d] loses no concurrency
//	       ► x ─► d
//
// The relation "the tail of one chain reaches the head of another" is transitive. So the minimum number
// of merged chains is the number of chains less a maximum matching of this relation (Dilworth's theorem
// by Fulkerson's reduction).
//
// The relation takes space quadratic in the chains. If there are many, a near-linear search joins them
// first (see chainSearch), and a matching merges the result if that is small enough. The result may then
// have more chains than the optimum.

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

// mergeChains joins chains, tail to head, by a matching of at most limit chains. Chains and result are in
// order of their heads.
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

// endToEnd returns the concatenation of the chains with the indices in links.
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

// mergeGroup merges the chains into the fewest possible, by a maximum matching.
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
