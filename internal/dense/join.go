package dense

// Joining of chains: the fewest lanes at the fewest waits, exactly.
//
// A maximum matching M of the reduced edges fixes the number of waits. Pairs
// (u, v) where u merely reaches v may be matched besides: v then follows u on a
// lane without an edge between them, no concurrency is lost, and each such pair
// saves a lane. Duality decides which pairs are compatible with some maximum
// matching, and not only with M.
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

// MaxJoinBits bounds the table of who reaches whom, 16 MiB.
const MaxJoinBits = 1 << 27

// joinChains extends m, a maximum matching of the edges of the reduced graph d, by pairs of which one
// reaches the other, and keeps the number of edges in it. It reports false and leaves m unchanged if
// the table would have more than limit bits.
func (m *Matching) joinChains(d *Graph, limit int) bool {
	inLeft, inRight := alternating(d, m)
	if inLeft.Count()*d.Len() > limit {
		return false
	}
	var sources, all []int32
	for v := range int32(d.Len()) {
		all = append(all, v)
		if inLeft.Has(int(v)) {
			sources = append(sources, v)
		}
	}
	m.grow(joinArcs(d, sources, inRight, d.Reachability(sources, all)))
	return true
}

// joinArcs is the graph of the drawing, of the left nodes in Z, the right nodes in Z and those that each of
// the first reaches.
func joinArcs(d *Graph, inLeft []int32, inRight Set, reaches []Set) bipartite {
	b := bipartite{sets: make([]Set, d.Len())}
	for i, u := range inLeft {
		reaches[i].Subtract(inRight)
		b.sets[u] = reaches[i]
	}
	drop := make([]bool, len(d.To))
	for u := range d.Len() {
		for e := d.First[u]; e < d.First[u+1]; e++ {
			// Edges from inside Z all end inside; those from outside count when they end outside.
			drop[e] = b.sets[u] == nil && inRight.Has(int(d.To[e]))
		}
	}
	b.Rows = d.Without(drop).Rows
	return b
}

// alternating returns the left and right nodes that paths from free left nodes
// reach when they leave the left by any edge and the right by a matched one.
func alternating(d *Graph, m *Matching) (left, right Set) {
	left, right = NewSet(d.Len()), NewSet(d.Len())
	var stack []int32
	for u, v := range m.Right {
		if v < 0 {
			left.Add(u)
			stack = append(stack, int32(u))
		}
	}
	for len(stack) > 0 {
		u := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, v := range d.Succs(u) {
			right.Add(int(v))
			if w := m.Left[v]; !left.Has(int(w)) { // never free: m is maximum
				left.Add(int(w))
				stack = append(stack, w)
			}
		}
	}
	return left, right
}
