package dense

import "slices"

// chainSearch joins chains in order of their heads. Each searches backward from its head, nearest
// predecessors first, for the tail of a chain that nothing follows yet, and goes on behind it:
//
//	a ─► b ─┬─► j ─┬─► e      chains [a b j e], [c], [f], in this order: from f the search
//	c ──────┘      └─► f      goes to j and then to c, which is a tail. [c f] is one chain.
//
// A tail is taken once, and no tails are added during the search. So the tails that lead to a node only
// become fewer. Hence a node whose predecessors have all been searched without success is never
// entered again, and a node with one predecessor left is skipped from then on, with path compression.
// The remaining walks are over nodes with several predecessors. Their total is bounded by searchLooks;
// heads beyond the bound begin lanes of their own.
//
// The result is maximal if the bound is not reached: no free tail leads to a head that begins a lane. On
// fork-joins, trees and stencils the number of lanes equals the width.
type chainSearch struct {
	d       *Graph
	chains  []Chain
	parents *parents
	tail    []int32 // by node: the chain that ends there and has no follower yet, -1 for none
	left    []int32 // by node: number of predecessors that may still lead to a tail
	skip    []int32 // by node: the node at which a search continues instead; itself if it is not skipped
	path    []int32 // stack of the current search
	looks   int     // node visits that all searches may still make
}

// searchLooks is the bound of node visits of all searches together, for each node and edge.
const searchLooks = 16

func newChainSearch(d *Graph, chains []Chain) *chainSearch {
	s := &chainSearch{
		d: d, chains: chains, parents: d.parents(),
		tail: slices.Repeat([]int32{-1}, d.Len()), left: d.indegrees(), skip: make([]int32, d.Len()),
	}
	for v := range s.skip {
		s.skip[v] = int32(v)
	}
	s.looks = searchLooks * (d.Len() + len(d.To))
	return s
}

// join returns the joined chains, in order of their heads.
func (s *chainSearch) join() []Chain {
	follower := slices.Repeat([]int32{-1}, len(s.chains))
	first := make([]bool, len(s.chains))
	for i, c := range s.chains {
		s.tail[c.Tail()] = int32(i)
	}
	for i, c := range s.chains {
		if before := s.search(c.Head()); before >= 0 {
			follower[before] = int32(i)
		} else {
			first[i] = true
		}
	}
	var joined []Chain
	for i, c := range s.chains {
		if !first[i] {
			continue
		}
		for next := follower[i]; next >= 0; next = follower[next] {
			c = append(c, s.chains[next]...)
		}
		joined = append(joined, c)
	}
	return joined
}

// search takes a tail that leads to v and returns its chain, -1 for none.
func (s *chainSearch) search(v int32) int32 {
	s.path = append(s.path[:0], v)
	for len(s.path) > 0 && s.looks > 0 {
		s.looks--
		x := s.path[len(s.path)-1]
		if s.left[x] == 0 {
			s.path = s.path[:len(s.path)-1]
			if len(s.path) > 0 {
				s.left[s.path[len(s.path)-1]]--
			}
			continue
		}
		u := s.resolve(s.nearest(x))
		if t := s.tail[u]; t >= 0 {
			s.tail[u] = -1
			return t
		}
		s.path = append(s.path, u)
	}
	return -1
}

// nearest returns the highest predecessor of x that may still lead to a tail.
func (s *chainSearch) nearest(x int32) int32 {
	p := s.parents
	return p.from[p.edges[p.first[x]+s.left[x]-1]]
}

// resolve returns the node at which a search that has reached u continues: u itself if it is a tail or has
// several predecessors left, otherwise the node that its only predecessor resolves to.
func (s *chainSearch) resolve(u int32) int32 {
	root := u
	for s.tail[root] < 0 && s.left[root] == 1 {
		if s.skip[root] == root {
			s.skip[root] = s.nearest(root)
		}
		root = s.skip[root]
		s.looks--
	}
	for u != root {
		u, s.skip[u] = s.skip[u], root
	}
	return root
}
