package ir

import (
	"cmp"
	"slices"
)

// dag is a directed acyclic graph whose nodes are numbered in a topological
// order: the predecessors of v are preds[into[v]:into[v+1]], ascending and
// all below v.
type dag struct {
	into, preds []int32
	chain       []int32 // by node: its chain in a known cover, see implied; or nil
}

func (d dag) len() int            { return len(d.into) - 1 }
func (d dag) to(v int32) []int32  { return d.preds[d.into[v]:d.into[v+1]] }
func (d *dag) add(preds ...int32) { d.preds = append(d.preds, preds...) }
func (d *dag) next()              { d.into = append(d.into, int32(len(d.preds))) }
func newDAG(nodes, edges int) *dag {
	return &dag{into: append(make([]int32, 0, nodes+1), 0), preds: make([]int32, 0, edges)}
}
func (g *Graph) dag() *dag {
	d := newDAG(len(g.Ops), len(g.Deps()))
	for v := range g.Ops {
		for _, dep := range g.DepsInto(OpID(v)) {
			d.add(int32(dep.From))
		}
		d.next()
	}
	return d
}

// has reports whether the edge u -> v is there.
func (d *dag) has(u, v int32) bool {
	_, ok := slices.BinarySearch(d.to(v), u)
	return ok
}

// query asks for a path of at least two edges between two nodes: one that
// holds even without the edge between them.
type query struct{ from, to int32 }

// implied answers the queries.
//
// The graph is covered with chains, paths that share no node, and every node
// keeps a clock: for each chain the last node of it that reaches this one.
//
//	chain 0   0 ──► 1 ──► 4        clock of 3: {1, 3}
//	                ▼              so 3 is reached by 0, as 0 <= 1,
//	chain 1         2 ──► 3        and not by 4
//
// This is the compressed closure of Jagadish (ACM TODS 15(4), 1990) turned
// round. Clocks for all chains at once would be as large as the closure of a
// wide graph, so they are made for 16 chains at a time (a cache line), from the
// first node asked about to the last: 64 bytes per node in all. Time is
// edges * chains in the worst case; lanes, iterations and tiles have few chains
// or short ones.
func implied(d *dag, queries []query) []bool {
	answers := make([]bool, len(queries))
	open := d.undecided(queries)
	if len(open) == 0 {
		return answers
	}
	chain := d.chain
	if chain == nil {
		chain = d.chains()
	}
	byChain := groupByChain(chain, queries, open)
	f := finder{dag: d, queries: queries, answers: answers, chain: chain, slot: make(map[int32]int, chainsAtOnce)}
	for len(byChain) > 0 {
		n := min(len(byChain), chainsAtOnce)
		f.search(byChain[:n])
		byChain = byChain[n:]
	}
	return answers
}

// undecided returns the queries whose answer is not no for lack of a second
// edge at one of the ends. In wide graphs that leaves few.
func (d *dag) undecided(queries []query) []int32 {
	outs := make([]int32, d.len())
	for _, u := range d.preds {
		outs[u]++
	}
	var open []int32
	for i, q := range queries {
		direct := int32(0)
		if outs[q.from] > 0 && d.has(q.from, q.to) {
			direct = 1
		}
		if int32(len(d.to(q.to))) > direct && outs[q.from] > direct {
			open = append(open, int32(i))
		}
	}
	return open
}

// chains covers the graph greedily: a node continues the chain of its last
// predecessor that still ends one.
func (d *dag) chains() []int32 {
	chain, n := make([]int32, d.len()), int32(0)
	var tail []int32 // by chain: its last node
	for v := range chain {
		chain[v] = n
		for _, u := range slices.Backward(d.to(int32(v))) {
			if tail[chain[u]] == u {
				chain[v] = chain[u]
				break
			}
		}
		if chain[v] == n {
			tail = append(tail, 0)
			n++
		}
		tail[chain[v]] = int32(v)
	}
	return chain
}

// chainQueries are the queries that start on one chain.
type chainQueries struct {
	chain   int32
	lo, hi  int32 // first node asked about, last target
	queries []int32
}

// groupByChain orders the groups by first node, so that those searched
// together look at the same part of the graph.
func groupByChain(chain []int32, queries []query, open []int32) []chainQueries {
	slices.SortFunc(open, func(a, b int32) int {
		return cmp.Compare(chain[queries[a].from], chain[queries[b].from])
	})
	var groups []chainQueries
	for i := 0; i < len(open); {
		g := chainQueries{chain: chain[queries[open[i]].from], lo: queries[open[i]].from}
		j := i
		for ; j < len(open) && chain[queries[open[j]].from] == g.chain; j++ {
			q := queries[open[j]]
			g.lo, g.hi = min(g.lo, q.from), max(g.hi, q.to)
		}
		g.queries = open[i:j]
		groups = append(groups, g)
		i = j
	}
	slices.SortFunc(groups, func(a, b chainQueries) int { return cmp.Compare(a.lo, b.lo) })
	return groups
}

// chainsAtOnce is the width of a clock: 16 times 4 bytes.
const chainsAtOnce = 16

type clock [chainsAtOnce]int32

// finder answers the queries of a few chains at a time.
type finder struct {
	*dag
	queries []query
	answers []bool
	chain   []int32
	slot    map[int32]int // chain to its place in a clock
	clocks  []clock       // of the nodes from lo on
}

// search runs clocks over the part of the graph that the groups ask about.
func (f *finder) search(groups []chainQueries) {
	clear(f.slot)
	lo, hi := groups[0].lo, int32(0)
	var asked []int32
	for i, g := range groups {
		f.slot[g.chain] = i
		lo, hi = min(lo, g.lo), max(hi, g.hi)
		asked = append(asked, g.queries...)
	}
	slices.SortFunc(asked, func(a, b int32) int { return cmp.Compare(f.queries[a].to, f.queries[b].to) })
	f.clocks = slices.Grow(f.clocks[:0], int(hi-lo+1))[:hi-lo+1]
	for v := lo; v <= hi; v++ {
		c := &f.clocks[v-lo]
		others := f.merge(c, v, lo)
		for len(asked) > 0 && f.queries[asked[0]].to == v {
			u := f.queries[asked[0]].from
			s := f.slot[f.chain[u]]
			f.answers[asked[0]] = c[s] > u || c[s] == u && others&(1<<s) != 0
			asked = asked[1:]
		}
		if s, ok := f.slot[f.chain[v]]; ok {
			c[s] = v
		}
	}
}

// merge sets c to the maximum of the clocks of v's predecessors. The bits
// returned tell in which places a predecessor other than the node named there
// supplied the maximum.
func (f *finder) merge(c *clock, v, lo int32) (others uint32) {
	for s := range c {
		c[s] = -1
	}
	for _, u := range f.to(v) {
		if u < lo {
			continue
		}
		for s, last := range &f.clocks[u-lo] {
			bit := uint32(1) << s
			switch {
			case last > c[s]:
				c[s] = last
				others &^= bit
				fallthrough
			case last == c[s]:
				if last != u {
					others |= bit
				}
			}
		}
	}
	return others
}
