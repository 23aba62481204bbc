package dense

import "slices"

// chainSearch joins chains in order of their heads. Each searches backward from its head, nearest
// predecessors first, for the tail of a chain that nothing follows yet, and goes on behind it:
//
//	a ─► b ─┬─► j ─┬─► e      chains [a b j e], [c], [f], in this order: from f the search
//	c ──────┘      └─► f      goes to j and then to c, which is a tail. [c f] is one chain.
//
// A tail is taken once, and all tails that lead to a node are known when the node's turn comes. So
// the tails behind a node only become fewer: a node whose predecessors have all been searched
// in vain is never entered again, and one that has a single predecessor left is skipped for good,
// with path compression. What remains are walks over nodes with a choice. These are bounded in
// total, since a graph can make each of them long; heads beyond the bound begin lanes of their own.
//
// The result is maximal: with the bound out of reach, no tail leads to a head that begins a lane
// after its search. On fork-joins, trees and stencils it has as many lanes as the width.
type chainSearch struct {
	d       *Graph
	chains  []Chain
	parents *parents
	tail    []int32 // by node: the chain that ends there and that nothing follows, -1 for none
	left    []int32 // by node: number of predecessors that may still lead to a tail
	skip    []int32 // by node: where the search goes on instead, itself if nowhere else
	path    []int32
	looks   int
}

// searchLooks is the number of looks that all searches may take together, for each node and edge.
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

// nearest is the highest predecessor of x that has not been searched in vain.
func (s *chainSearch) nearest(x int32) int32 {
	p := s.parents
	return p.from[p.edges[p.first[x]+s.left[x]-1]]
}

// resolve returns the node at which the search of u goes on: u itself if it is a tail or has a
// choice of predecessors, otherwise where its only one goes on.
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
