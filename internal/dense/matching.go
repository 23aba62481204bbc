package dense

import "slices"

// Maximum bipartite matching by the algorithm of Hopcroft and Karp ("An n^5/2
// algorithm for maximum matchings in bipartite graphs", SIAM J. Comput. 1973):
// every phase finds a maximal set of disjoint shortest augmenting paths, and
// O(sqrt V) phases are enough. On long traces, each of the last phases found one path, longer than that of
// the phase before: 34 phases for a million launches in layers of 64. So every phase but the first also
// searches disjoint paths of any length (Duff and Wiberg, "Remarks on implementation of O(n^1/2 tau)
// assignment algorithms", ACM TOMS 14(3), 1988).
//
//	left   right        an augmenting path  0 ─ a = 1 ─ b  trades the matched
//	0 ───── a           edge (=) for the other two:  0 = a,  1 = b
//	  ╲
//	1 ═════ a,  1 ───── b
//
// Left nodes and arcs are tried in ascending order, so one graph has one answer.

// bipartite is a graph over 0..n-1 left and right. A left node has arcs to the right nodes in its row of
// edges, and after these to those in its set, if it has one. An arc is found through a cursor, its number: an
// edge has its index in the rows, and behind the last edge of the row come the right nodes of the set.
//
// A search passes the set of right nodes that it has not entered yet. Other nodes of a set are skipped 64 at a time.
type bipartite struct {
	Rows
	sets []Set // by left node, nil for none; nil if no node has one
}

// Matching pairs nodes on the left with nodes on the right. The partner -1 is none.
type Matching struct {
	Right []int32 // by left node: its partner
	Left  []int32 // by right node: its partner
	Size  int     // number of pairs
}

// begin is the cursor before u's first arc.
func (b bipartite) begin(u int32) int32 { return b.First[u] }

// next returns u's first right node in open at or behind the cursor, and the cursor behind it; v is -1 when
// there is none.
func (b bipartite) next(u, cursor int32, open Set) (v, after int32) {
	end := b.First[u+1]
	for ; cursor < end; cursor++ {
		if v := b.To[cursor]; open.Has(int(v)) {
			return v, cursor + 1
		}
	}
	if b.sets == nil || b.sets[u] == nil {
		return -1, cursor
	}
	if v = int32(b.sets[u].NextIn(open, int(cursor-end))); v < 0 {
		return -1, cursor
	}
	return v, end + v + 1
}

// MaximumMatching returns a matching of the greatest size between the nodes as tails, on the left, and
// the nodes as heads of edges, on the right. It takes O(sqrt(V)*E).
func MaximumMatching(r Rows) *Matching { return maximumMatching(bipartite{Rows: r}) }

func maximumMatching(g bipartite) *Matching {
	m := &Matching{Right: slices.Repeat([]int32{-1}, g.Len()), Left: slices.Repeat([]int32{-1}, g.Len())}
	m.grow(g)
	return m
}

// grow makes a matching of g as great as can be. Nodes that have a partner keep
// one, though perhaps not the same.
func (m *Matching) grow(g bipartite) {
	m.greedy(g)
	h := hopcroftKarp{
		g: g, m: m,
		level:  make([]int32, g.Len()),
		cursor: make([]int32, g.Len()),
		open:   NewSet(g.Len()),
		queue:  make([]int32, 0, g.Len()),
	}
	for phase := 1; h.layer(); phase++ {
		h.each(h.augment)
		if phase > 1 && !h.each(h.augmentAnyhow) {
			return // no augmenting path exists: the matching is maximum
		}
	}
}

func (m *Matching) pair(u, v int32) { m.Right[u], m.Left[v] = v, u }

// greedy pairs every free left node with its first free right node. On traces
// that is nearly maximum, so few phases remain.
func (m *Matching) greedy(g bipartite) {
	free := m.free()
	for u := range int32(g.Len()) {
		if m.Right[u] >= 0 {
			continue
		}
		if v, _ := g.next(u, g.begin(u), free); v >= 0 {
			m.pair(u, v)
			m.Size++
			free.Remove(int(v))
		}
	}
}

// free is the right nodes without a partner.
func (m *Matching) free() Set {
	free := NewSet(len(m.Left))
	for v, u := range m.Left {
		if u < 0 {
			free.Add(v)
		}
	}
	return free
}

// hopcroftKarp is the state of the phases.
type hopcroftKarp struct {
	g      bipartite
	m      *Matching
	level  []int32 // by left node: alternating steps from a free left node, -1 unreached
	cursor []int32 // by left node: arcs before it are used up in this phase
	open   Set     // right nodes that this pass of the phase has not entered
	free   Set     // right nodes without a partner
	queue  []int32
	path   []int32
}

// layer sets the levels breadth first and reports whether some free right node
// is within reach.
func (h *hopcroftKarp) layer() bool {
	h.open.Fill(h.g.Len())
	h.queue = h.queue[:0]
	for u := range h.level {
		h.level[u] = -1
		if h.m.Right[u] < 0 {
			h.level[u] = 0
			h.queue = append(h.queue, int32(u))
		}
	}
	found := false
	for i := 0; i < len(h.queue); i++ {
		found = h.expand(h.queue[i]) || found
	}
	return found
}

// expand queues the left nodes one alternating step from u and reports whether
// one of the arcs ends at a free right node.
func (h *hopcroftKarp) expand(u int32) bool {
	found := false
	for _, v := range h.g.Succs(u) {
		if h.open.Has(int(v)) {
			found = h.reach(u, v) || found
		}
	}
	if h.g.sets == nil || h.g.sets[u] == nil {
		return found
	}
	for v := 0; ; v++ {
		if v = h.g.sets[u].NextIn(h.open, v); v < 0 {
			return found
		}
		found = h.reach(u, int32(v)) || found
	}
}

// reach enters an open right node v from u and queues its partner. It reports whether v has none, so that an
// augmenting path ends there.
func (h *hopcroftKarp) reach(u, v int32) bool {
	h.open.Remove(int(v))
	w := h.m.Left[v]
	if w < 0 {
		return true
	}
	h.level[w] = h.level[u] + 1
	h.queue = append(h.queue, w)
	return false
}

// each starts a search for disjoint paths from every free left node and reports whether one was found.
func (h *hopcroftKarp) each(augment func(root int32) bool) bool {
	h.open.Fill(h.g.Len())
	before := h.m.Size
	for u := range int32(h.g.Len()) {
		h.cursor[u] = h.g.begin(u)
	}
	h.free = h.m.free()
	for u := range int32(h.g.Len()) {
		if h.m.Right[u] < 0 && augment(u) {
			h.m.Size++
		}
	}
	return h.m.Size > before
}

// augment follows levels from a free left node to a free right one and flips the
// path. The stack is explicit: a path can be as long as the graph.
func (h *hopcroftKarp) augment(root int32) bool {
	h.path = append(h.path[:0], root)
	for len(h.path) > 0 {
		u := h.path[len(h.path)-1]
		v, after := h.g.next(u, h.cursor[u], h.open)
		h.cursor[u] = after
		if v < 0 {
			h.path = h.path[:len(h.path)-1]
			continue
		}
		w := h.m.Left[v]
		if w >= 0 && h.level[w] != h.level[u]+1 {
			continue
		}
		h.open.Remove(int(v))
		if w < 0 {
			h.flip(v)
			return true
		}
		h.path = append(h.path, w)
	}
	return false
}

// augmentAnyhow searches an augmenting path of any length. At each node it tries the free right nodes first: a
// plain depth-first search would find paths through most of the graph.
func (h *hopcroftKarp) augmentAnyhow(root int32) bool {
	h.path = h.path[:0]
	for u := root; ; {
		h.path = append(h.path, u)
		if v, _ := h.g.next(u, h.g.begin(u), h.free); v >= 0 {
			h.free.Remove(int(v))
			h.open.Remove(int(v))
			h.flip(v)
			return true
		}
		v := h.enter()
		if v < 0 {
			return false
		}
		u = h.m.Left[v]
	}
}

// enter enters an open right node from the last left node of the path that has one, and cuts the path off behind
// that left node. It returns -1 if no left node of the path has one.
func (h *hopcroftKarp) enter() int32 {
	for len(h.path) > 0 {
		u := h.path[len(h.path)-1]
		v, after := h.g.next(u, h.cursor[u], h.open)
		h.cursor[u] = after
		if v >= 0 {
			h.open.Remove(int(v))
			return v
		}
		h.path = h.path[:len(h.path)-1]
	}
	return -1
}

// flip pairs the last left node of the path with v, the one before with the
// right node that this sets free, and so on.
func (h *hopcroftKarp) flip(v int32) {
	for i := len(h.path) - 1; i >= 0; i-- {
		u := h.path[i]
		free := h.m.Right[u]
		h.m.pair(u, v)
		v = free
	}
}
