package dense

import (
	"cmp"
	"math"
	"slices"
)

// chainSweeps reduces with the closure by chains. The graph is covered with disjoint paths, the chains. The
// nodes of a chain that a node reaches are a suffix of the chain, so the first of them represents all. The
// clock of a node holds these first nodes, one for each chain:
//
//	chain 0   0 ──► 1 ──► 4        clock of 0: {1, 2}: it reaches chain 0 from 1 on
//	          │     │              and chain 1 from 2 on, through 1.
//	chain 1   │     └─► 2 ──► 3    So the edge 0 ──► 3 is redundant.
//	          └───────────────▲
//
// That is the compressed closure of Jagadish, "A compression technique to
// materialize transitive closure", ACM TODS 15(4), 1990; Kritikakis and Tollis,
// "Fast and practical DAG decomposition with reachability applications", SEA 2023,
// reduce with it. Labels for all chains would be as large as the closure of
// a wide graph, so there are 16 at a time, which fill a cache line per node, and
// only for the ranks between the contested edges into these chains. A trace of a
// few hundred lanes takes a few dozen sweeps, however long it is and its edges are.
type chainSweeps struct {
	*Reduction
	chain  []int32 // by node
	groups []chainGroup
}

// chainsAtOnce is the number of chains of one sweep: 16 ranks fill a cache line.
const chainsAtOnce = 16

// clock is, by slot of a chain, the lowest of its nodes that a node reaches; math.MaxInt32 for none.
type clock [chainsAtOnce]int32

func (c *clock) lower(o *clock) {
	for i := range c {
		c[i] = min(c[i], o[i])
	}
}

// contestedChain is a chain with contested edges into it. All of these lie in the ranks [low, high).
type contestedChain struct{ chain, low, high int32 }

// chainGroup is the chains of one sweep, and the ranks [low, high) that it visits.
type chainGroup struct {
	chains    []contestedChain
	low, high int32
}

func newChainSweeps(r *Reduction) *chainSweeps {
	s := &chainSweeps{Reduction: r}
	var n int32
	s.chain, n = r.Graph.greedyChains()
	for chains := range slices.Chunk(s.contestedChains(n), chainsAtOnce) {
		g := chainGroup{chains: chains, low: math.MaxInt32}
		for _, c := range chains {
			g.low, g.high = min(g.low, c.low), max(g.high, c.high)
		}
		s.groups = append(s.groups, g)
	}
	return s
}

// greedyChains covers d with n chains: the next node of a chain is the first
// successor that is not yet in a chain.
func (d *Graph) greedyChains() (chain []int32, n int32) {
	chain = slices.Repeat([]int32{-1}, d.Len())
	for u := range chain {
		if chain[u] < 0 {
			chain[u] = n
			n++
		}
		for _, v := range d.Succs(int32(u)) {
			if chain[v] < 0 {
				chain[v] = chain[u]
				break
			}
		}
	}
	return chain, n
}

// contestedChains returns the chains with contested edges into them, in order of the first such edge. Chains
// of one sweep then concern about the same part of the graph.
func (s *chainSweeps) contestedChains(n int32) []contestedChain {
	all := make([]contestedChain, n)
	for c := range all {
		all[c] = contestedChain{chain: int32(c), low: -1}
	}
	for u := range int32(s.Graph.Len()) {
		for i, v := range s.Graph.Succs(u) {
			if !s.contested(u, i, v) {
				continue
			}
			c := &all[s.chain[v]]
			if c.low < 0 {
				c.low = u
			}
			c.high = max(c.high, v+1)
		}
	}
	all = slices.DeleteFunc(all, func(c contestedChain) bool { return c.low < 0 })
	slices.SortFunc(all, func(a, b contestedChain) int { return cmp.Compare(a.low, b.low) })
	return all
}

// work counts an edge twice: a clock takes about twice the time of a block.
func (s *chainSweeps) work() int {
	work := len(s.Graph.To)
	for _, g := range s.groups {
		work += 2 * int(s.Graph.First[g.high]-s.Graph.First[g.low])
	}
	return work
}

func (s *chainSweeps) reduce() {
	slot := slices.Repeat([]int32{-1}, s.Graph.Len()) // by chain
	clocks := newRing[clock](s.Graph.span())
	for _, g := range s.groups {
		for i, c := range g.chains {
			slot[c.chain] = int32(i)
		}
		for u := g.high - 1; u >= g.low; u-- {
			s.row(u, g, slot, clocks)
		}
		for _, c := range g.chains {
			slot[c.chain] = -1
		}
	}
}

// row sets the clock of u and marks the edges into the group's chains that an
// earlier successor of u implies.
func (s *chainSweeps) row(u int32, g chainGroup, slot []int32, clocks ring[clock]) {
	d, own := s.Graph, clocks.at(u)
	for i := range own {
		own[i] = math.MaxInt32
	}
	for e := d.First[u]; e < d.First[u+1] && d.To[e] < g.high; e++ {
		v := d.To[e]
		if s.Redundant[e] {
			continue
		}
		if i := slot[s.chain[v]]; i >= 0 {
			if own[i] <= v {
				s.Redundant[e] = true
				continue
			}
			own[i] = v
		}
		own.lower(clocks.at(v))
	}
}
