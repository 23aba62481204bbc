package dense

import (
	"cmp"
	mathbits "math/bits"
	"slices"
)

// Preds is a directed acyclic graph by the predecessors of its nodes 0..n-1, which are numbered in a
// topological order. It is built row by row: Add and EndRow for each node.
type Preds struct {
	// Chain is, by node, its chain in a cover with paths that share no node, if one is known.
	Chain []int32

	into, preds []int32 // preds[into[v]:into[v+1]] are v's predecessors, ascending and all below v
}

// NewPreds returns a graph without nodes, with room for some.
func NewPreds(nodes, edges int) *Preds {
	return &Preds{into: append(make([]int32, 0, nodes+1), 0), preds: make([]int32, 0, edges)}
}

// Add adds predecessors to the next node.
func (d *Preds) Add(preds ...int32) { d.preds = append(d.preds, preds...) }

// Row returns the predecessors that were added to the next node. They must be in ascending order
// before EndRow, so the caller may sort them.
func (d *Preds) Row() []int32 { return d.preds[d.into[len(d.into)-1]:] }

// EndRow completes the next node.
func (d *Preds) EndRow() { d.into = append(d.into, int32(len(d.preds))) }

func (d *Preds) len() int           { return len(d.into) - 1 }
func (d *Preds) to(v int32) []int32 { return d.preds[d.into[v]:d.into[v+1]] }

// Has reports whether there is an edge from u to v.
func (d *Preds) Has(u, v int32) bool {
	_, ok := slices.BinarySearch(d.to(v), u)
	return ok
}

// Implied reports, by pair of nodes, whether a path of at least two edges leads from the one to the
// other: one that is there even without an edge between them. The pairs run up.
//
// The graph is covered with chains, paths that share no node, and every node
// keeps a clock: for each chain the last node of it that reaches this one.
//
//	chain 0   0 ──► 1 ──► 4        clock of 3: {1, 3}
//	                ▼              so 3 is reached by 0, as 0 <= 1,
//	chain 1         2 ──► 3        and not by 4
//
// This is the compressed closure of Jagadish (ACM TODS 15(4), 1990), with
// predecessors in place of successors. Clocks for all chains at once would be as
// large as the closure of a wide graph. So a search computes them for 16 chains at
// a time, from the first to the last node of their queries, and only for nodes that
// these chains reach: 68 bytes per node. The worst case is O(edges · chains). Graphs
// of lanes, iterations and tiles have few chains, or short ones.
func (d *Preds) Implied(queries []Edge) []bool {
	answers := make([]bool, len(queries))
	open := d.undecided(queries)
	if len(open) == 0 {
		return answers
	}
	chain := d.Chain
	if chain == nil {
		chain = d.chains()
	}
	byChain := groupByChain(chain, queries, open)
	f := finder{Preds: d, succs: d.reversed(), queries: queries, answers: answers, chain: chain}
	f.slot = slices.Repeat([]int8{-1}, int(slices.Max(chain))+1)
	for len(byChain) > 0 {
		n := min(len(byChain), chainsAtOnce)
		f.search(byChain[:n])
		byChain = byChain[n:]
	}
	return answers
}

// undecided returns the queries that degrees do not answer. A path of two edges needs an edge out of From and one
// into To besides a direct edge; without either the answer is no. In wide graphs few queries remain.
func (d *Preds) undecided(queries []Edge) []int32 {
	outs := make([]int32, d.len())
	for _, u := range d.preds {
		outs[u]++
	}
	var open []int32
	for i, q := range queries {
		direct := int32(0)
		if outs[q.From] > 0 && d.Has(q.From, q.To) {
			direct = 1
		}
		if int32(len(d.to(q.To))) > direct && outs[q.From] > direct {
			open = append(open, int32(i))
		}
	}
	return open
}

// chains covers the graph greedily: a node continues the chain of its last
// predecessor that still ends one.
func (d *Preds) chains() []int32 {
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
	lo, hi  int32 // lowest start and highest end of the queries
	queries []int32
}

// groupByChain groups the open queries by the chain of their start. Groups are in order of their lowest start,
// so that the groups of one search concern about the same part of the graph.
func groupByChain(chain []int32, queries []Edge, open []int32) []chainQueries {
	slices.SortFunc(open, func(a, b int32) int {
		return cmp.Compare(chain[queries[a].From], chain[queries[b].From])
	})
	var groups []chainQueries
	for i := 0; i < len(open); {
		g := chainQueries{chain: chain[queries[open[i]].From], lo: queries[open[i]].From}
		j := i
		for ; j < len(open) && chain[queries[open[j]].From] == g.chain; j++ {
			q := queries[open[j]]
			g.lo, g.hi = min(g.lo, q.From), max(g.hi, q.To)
		}
		g.queries = open[i:j]
		groups = append(groups, g)
		i = j
	}
	slices.SortFunc(groups, func(a, b chainQueries) int { return cmp.Compare(a.lo, b.lo) })
	return groups
}

// lastClock holds for 16 chains the last node of each that reaches this one.
// A bit of others is set if the entry came from a predecessor other than that last
// node itself: then a path of at least two edges leads from it.
type lastClock struct {
	last   [chainsAtOnce]int32
	others uint32
}

// finder answers the queries of a few chains at a time.
type finder struct {
	*Preds
	succs   *Preds // successors of each node
	queries []Edge
	answers []bool
	chain   []int32
	slot    []int8      // by chain: its place in a clock, -1 for none
	lo, hi  int32       // the nodes searched
	clocks  []lastClock // by node, from lo on
	touched []uint64    // a bit for each node from lo on: its clock is set
}

// search pushes clocks from the first nodes of the groups to all that they
// reach, in topological order, which is the order of the bits of touched.
func (f *finder) search(groups []chainQueries) {
	asked := f.window(groups)
	for v, ok := f.take(f.lo); ok; v, ok = f.take(v + 1) {
		c := &f.clocks[v-f.lo]
		for len(asked) > 0 && f.queries[asked[0]].To < v {
			asked = asked[1:] // not reached
		}
		for len(asked) > 0 && f.queries[asked[0]].To == v {
			u := f.queries[asked[0]].From
			s := f.slot[f.chain[u]]
			f.answers[asked[0]] = c.last[s] > u || c.last[s] == u && c.others&(1<<s) != 0
			asked = asked[1:]
		}
		if s := f.slot[f.chain[v]]; s >= 0 {
			c.last[s] = v
		}
		for _, w := range f.succs.to(v) {
			if w <= f.hi {
				f.touch(w)
				f.clocks[w-f.lo].merge(v, c)
			}
		}
	}
	for _, g := range groups {
		f.slot[g.chain] = -1
	}
}

// window sets the part of the graph that the queries of the groups concern, with the first
// node of each chain that they touch, and returns their queries by target.
func (f *finder) window(groups []chainQueries) (asked []int32) {
	f.lo, f.hi = groups[0].lo, 0
	for i, g := range groups {
		f.slot[g.chain] = int8(i)
		f.hi = max(f.hi, g.hi)
		asked = append(asked, g.queries...)
	}
	n := int(f.hi-f.lo) + 1
	if n > len(f.clocks) {
		f.clocks, f.touched = make([]lastClock, n), make([]uint64, n/64+1)
	}
	for _, g := range groups {
		f.touch(g.lo)
	}
	slices.SortFunc(asked, func(a, b int32) int { return cmp.Compare(f.queries[a].To, f.queries[b].To) })
	return asked
}

// touch makes sure that v has a clock.
func (f *finder) touch(v int32) {
	i := v - f.lo
	if f.touched[i/64]&(1<<(i%64)) != 0 {
		return
	}
	f.touched[i/64] |= 1 << (i % 64)
	c := &f.clocks[i]
	c.others = 0
	for s := range c.last {
		c.last[s] = -1
	}
}

// take removes and returns the first touched node from v on.
func (f *finder) take(v int32) (int32, bool) {
	last := (f.hi - f.lo) / 64
	for w := (v - f.lo) / 64; w <= last; w++ {
		if bits := f.touched[w]; bits != 0 { // bits before v were removed
			f.touched[w] = bits & (bits - 1)
			return f.lo + w*64 + int32(mathbits.TrailingZeros64(bits)), true
		}
	}
	return 0, false
}

// merge raises c to the clock of predecessor u.
func (c *lastClock) merge(u int32, from *lastClock) {
	for s, last := range &from.last {
		bit := uint32(1) << s
		if last > c.last[s] {
			c.last[s] = last
			c.others &^= bit
		}
		if last == c.last[s] && last != u {
			c.others |= bit
		}
	}
}

// reversed returns the graph with all edges reversed. Its rows are ascending, too.
func (d *Preds) reversed() *Preds {
	n := d.len()
	r := &Preds{into: make([]int32, n+1), preds: make([]int32, len(d.preds))}
	for _, u := range d.preds {
		r.into[u+1]++
	}
	for v := range n {
		r.into[v+1] += r.into[v]
	}
	next := slices.Clone(r.into[:n])
	for v := range int32(n) {
		for _, u := range d.to(v) {
			r.preds[next[u]] = v
			next[u]++
		}
	}
	return r
}
