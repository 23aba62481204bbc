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

// links is a flow from nodes to nodes that follow them.
type links struct {
	follows []Set     // by node: those that follow it
	flow    [][]int64 // from a node to one that follows it
	send    []int64   // by node: weight without a link to what follows
	take    []int64   // by node: weight without a link from what precedes
	from    []int32   // by node as one that precedes: its distance from any that can send, -1 for none
	to      []int32   // by node as one that follows
	tried   []int     // by node as one that precedes: what came of a search
	back    []int
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

// level finds the distances of a breadth-first search, and whether anything more can be
// sent.
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
				for k := range j { // what precedes j comes before it
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

// push sends up to this weight from i along the distances, and returns how much arrived.
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

// deliver hands weight to j, or to what precedes j in place of weight that j has from there.
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
