package optimizer

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// Memory is what the buffers of a schedule take on the device, in bytes; each allocation
// counts with what aligns the next.
type Memory struct {
	Before int64 `json:"before"` // every buffer has memory of its own
	After  int64 `json:"after"`  // as the schedule says
	Bound  int64 `json:"bound"`  // no arena that is right for its lanes and waits takes less
}

// MemoryOf sums up the memory of a schedule. Temporaries that no operation uses have none.
func MemoryOf(s *ir.Schedule) Memory {
	var m Memory
	used := usedBuffers(s.Graph)
	arena := int64(0)
	for b := range s.Graph.Buffers {
		buf := &s.Graph.Buffers[b]
		if buf.Place.Kind != ir.OnDevice || buf.Role == ir.Temporary && !used[b] {
			continue
		}
		size := aligned(buf.Size())
		m.Before += size
		if s.Offset == nil || s.Offset[b] < 0 {
			m.After += size
		} else {
			arena = max(arena, s.Offset[b]+size)
		}
	}
	m.After += arena
	lives := livesOf(s)
	m.Bound = m.Before + leastArena(s, lives)
	for _, l := range lives {
		m.Bound -= l.size
	}
	return m
}

func usedBuffers(g *ir.Graph) []bool {
	used := make([]bool, len(g.Buffers))
	var accesses []ir.Access
	for v := range g.Ops {
		accesses = g.Ops[v].AppendAccesses(accesses[:0])
		for _, a := range accesses {
			used[a.Buffer] = used[a.Buffer] || !a.Empty()
		}
	}
	return used
}

// leastArena is a lower bound of an arena for lives: bytes of lives that conflict two by
// two. Of few lives it is the most such bytes there are. Of many it is the most found
// around single operations: lives that have begun when one begins, and not ended when it
// ends, overlap there.
func leastArena(s *ir.Schedule, lives []life) int64 {
	d := dagOfSchedule(s)
	if len(lives) <= maxAntichain {
		return antichain(lives, conflictsOf(d, lives))
	}
	most := int64(0)
	for _, r := range loaded(lives, d.len()) {
		begun, open := d.upTo(r), d.onwards(r)
		bytes := int64(0)
		for i := range lives {
			l := &lives[i]
			if slices.ContainsFunc(l.heads, func(h int32) bool { return begun.has(int(h)) }) &&
				slices.ContainsFunc(l.tails, func(t int32) bool { return open.has(int(t)) }) {
				bytes += l.size
			}
		}
		most = max(most, bytes)
	}
	return most
}

// loaded returns a few ranks at which many bytes are alive in the order of submission: the
// most of all in each of so many parts of a replay.
func loaded(lives []life, n int) []int32 {
	parts := min(32, n)
	change := make([]int64, n+1)
	for i := range lives {
		l := &lives[i]
		change[l.heads[0]] += l.size
		change[l.tails[len(l.tails)-1]+1] -= l.size
	}
	load := change[:n]
	for r := 1; r < n; r++ {
		load[r] += load[r-1]
	}
	var ranks []int32
	for part := range parts {
		lo, hi := part*n/parts, (part+1)*n/parts
		at := lo
		for r := lo; r < hi; r++ {
			if load[r] > load[at] {
				at = r
			}
		}
		ranks = append(ranks, int32(at))
	}
	return ranks
}

// upTo is the set of ranks from which paths lead to one, and itself.
func (d *dag) upTo(r int32) bitset {
	set := newBitset(d.len())
	set.set(int(r))
	for u := r - 1; u >= 0; u-- {
		for _, v := range d.succs(u) {
			if set.has(int(v)) {
				set.set(int(u))
				break
			}
		}
	}
	return set
}

// onwards is the set of ranks to which paths lead from one, and itself.
func (d *dag) onwards(r int32) bitset {
	set := newBitset(d.len())
	set.set(int(r))
	for u := set.next(int(r)); u >= 0; u = set.next(u + 1) {
		for _, v := range d.succs(int32(u)) {
			set.set(int(v))
		}
	}
	return set
}
