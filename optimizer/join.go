package optimizer

// Joining of chains: the fewest lanes at the fewest waits, exactly.
//
// A maximum matching M of the reduced edges fixes the number of waits. Pairs
// (u, v) where u merely reaches v may be matched besides: v then follows u on a
// lane without an edge between them, no concurrency is lost, and each such pair
// saves a lane. Which of them are compatible with some maximum matching, and not
// only with the one at hand, is what duality tells.
//
// König's theorem: the nodes Z that alternating paths reach from free left nodes
// give a vertex cover of size |M|, the left nodes outside Z and the right nodes
// in it. By complementary slackness the matchings with |M| edges are those that
// match every covered node by an edge with one covered end. So let
//
//	           right in Z     right outside Z
//	  left      (covered)
//	 in Z      │ edges       │ any v that u reaches
//	 not in Z  │ nothing     │ edges
//	 (covered)
//
// be the arcs. M lies in this graph and matches all covered nodes; growing a
// matching never frees a node; a covered node has only edges. Hence a maximum
// matching grown from M still holds |M| edges, and no matching with that many
// edges is greater.
//
// The released code of Nimble joins the chains of one fixed M instead. On the
// circuit sin that ends at 498 lanes, and with our M at 445; this finds 428, the
// width of the graph.

// maxJoinBits bounds the table of who reaches whom, 16 MiB.
const maxJoinBits = 1 << 27

// joinChains grows m, a maximum matching of d, by pairs of which one reaches the
// other, keeping the number of edges in it. It reports false and leaves m alone
// when the table would have more than limit bits.
func joinChains(d *dag, m *matching, limit int) bool {
	inLeft, inRight := alternating(d, m)
	var sources, all []int32
	for v := range int32(d.len()) {
		all = append(all, v)
		if inLeft.has(int(v)) {
			sources = append(sources, v)
		}
	}
	if len(sources)*d.len() > limit {
		return false
	}
	j := joinArcs{dag: d, inRight: inRight, reach: make([]bitset, d.len())}
	for i, row := range d.reachability(sources, all) {
		row.subtract(inRight)
		j.reach[sources[i]] = row
	}
	m.grow(&j)
	return true
}

// alternating returns the left and right nodes that paths from free left nodes
// reach when they leave the left by any edge and the right by a matched one.
func alternating(d *dag, m *matching) (left, right bitset) {
	left, right = newBitset(d.len()), newBitset(d.len())
	var stack []int32
	for u, v := range m.right {
		if v < 0 {
			left.set(u)
			stack = append(stack, int32(u))
		}
	}
	for len(stack) > 0 {
		u := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, v := range d.succs(u) {
			right.set(int(v))
			if w := m.left[v]; !left.has(int(w)) { // never free: m is maximum
				left.set(int(w))
				stack = append(stack, w)
			}
		}
	}
	return left, right
}

// joinArcs is the graph of the drawing. A cursor runs through the edges first,
// then through the columns of the table.
type joinArcs struct {
	*dag
	inRight bitset
	reach   []bitset // by left node in Z: whom it reaches outside Z; nil for the others
}

func (j *joinArcs) next(u, cursor int32, open bitset) (v, after int32) {
	inLeft, end := j.reach[u] != nil, j.first[u+1]
	for ; cursor < end; cursor++ {
		// Edges from inside Z all end inside; those from outside count when
		// they end outside.
		if v := int(j.to[cursor]); open.has(v) && (inLeft || !j.inRight.has(v)) {
			return int32(v), cursor + 1
		}
	}
	if !inLeft {
		return -1, cursor
	}
	if v = int32(j.reach[u].nextIn(open, int(cursor-end))); v < 0 {
		return -1, cursor
	}
	return v, end + v + 1
}
