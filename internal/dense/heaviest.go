package dense

import "slices"

// HeaviestAntichain returns the greatest weight of a set of nodes of which no two are comparable.
// The nodes are numbered in a topological order, incomparable has for each node the set of those
// that no path joins with it, and weights are not negative.
//
// By the weighted form of Dilworth's theorem it is the least number of chains that pass each node
// once for every unit of its weight:
//
//	chains  =  weight  -  the most links between units of nodes that follow one another
//
// The links are a maximum flow through the bipartite graph of which node follows which (Dinic 1970).
// Memory is 8 bytes for each pair of nodes.
func HeaviestAntichain(weight []int64, incomparable []Set) (heaviest int64) {
	f := newLinks(weight, incomparable)
	for f.level() {
		for i := range f.send {
			for f.send[i] > 0 {
				got := f.push(i, f.send[i])
				if got == 0 {
					break
				}
				f.send[i] -= got
			}
		}
	}
	for _, s := range f.send {
		heaviest += s // heads of chains
	}
	return heaviest
}

// links is a flow from nodes on the left to the nodes on the right that follow them. Each node is on both
// sides.
type links struct {
	follows []Set     // by node: the nodes that follow it
	flow    [][]int64 // by left and right node: units linked
	send    []int64   // by left node: units not linked to a follower
	take    []int64   // by right node: units not linked to a predecessor
	from    []int32   // by left node: its distance from one with units to send, -1 if unreached
	to      []int32   // by right node: the same
	tried   []int     // by left node: arcs before it are exhausted in this phase
	back    []int     // by right node: the same, for arcs back to the left
}

func newLinks(weight []int64, incomparable []Set) *links {
	n := len(weight)
	f := &links{follows: make([]Set, n), flow: make([][]int64, n), send: slices.Clone(weight), take: slices.Clone(weight), tried: make([]int, n), back: make([]int, n)}
	for i := range n {
		f.flow[i] = make([]int64, n)
		f.follows[i] = NewSet(n)
		for j := i + 1; j < n; j++ {
			if !incomparable[i].Has(j) {
				f.follows[i].Add(j)
			}
		}
	}
	return f
}

// level computes the distances of a phase by breadth-first search. It reports whether a unit can still be sent.
func (f *links) level() bool {
	n := len(f.send)
	f.from, f.to = slices.Repeat([]int32{-1}, n), slices.Repeat([]int32{-1}, n)
	clear(f.tried)
	clear(f.back)
	var front []int
	for i, s := range f.send {
		if s > 0 {
			f.from[i] = 0
			front = append(front, i)
		}
	}
	found := false
	for len(front) > 0 && !found {
		var next []int
		for _, i := range front {
			for j := f.follows[i].Next(0); j >= 0; j = f.follows[i].Next(j + 1) {
				if f.to[j] >= 0 {
					continue
				}
				f.to[j] = f.from[i] + 1
				found = found || f.take[j] > 0
				for k := range j { // predecessors of j have lower numbers
					if f.flow[k][j] > 0 && f.from[k] < 0 {
						f.from[k] = f.to[j] + 1
						next = append(next, k)
					}
				}
			}
		}
		front = next
	}
	return found
}

// push sends at most weight units from left node i along ascending distances, and returns how many arrived.
func (f *links) push(i int, weight int64) int64 {
	for j := f.follows[i].Next(f.tried[i]); j >= 0; j = f.follows[i].Next(j + 1) {
		f.tried[i] = j
		if f.to[j] != f.from[i]+1 {
			continue
		}
		if got := f.deliver(j, weight); got > 0 {
			f.flow[i][j] += got
			return got
		}
	}
	f.tried[i] = len(f.send)
	return 0
}

// deliver passes at most weight units to right node j. If j has no free units, it replaces units that j has from
// another left node k, which k then sends elsewhere. It returns how many were passed.
func (f *links) deliver(j int, weight int64) int64 {
	if got := min(weight, f.take[j]); got > 0 {
		f.take[j] -= got
		return got
	}
	for ; f.back[j] < j; f.back[j]++ {
		k := f.back[j]
		if f.flow[k][j] == 0 || f.from[k] != f.to[j]+1 {
			continue
		}
		if got := f.push(k, min(weight, f.flow[k][j])); got > 0 {
			f.flow[k][j] -= got
			return got
		}
	}
	return 0
}
