package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/plansize"
	"github.com/reprise-gpu/reprise/ir"
)

func init() {
	plansize.MemoryOf, plansize.BytesOf, plansize.UnrolledOf = memoryOf, deviceBytes, unrolledOf
}

// memoryOf is plansize.MemoryOf.
func memoryOf(s *ir.Schedule) plansize.Memory {
	var m plansize.Memory
	if s == nil || s.Graph == nil {
		return m
	}
	m.Before, m.After = deviceBytes(s)
	lives := livesOf(s)
	m.Bound = m.Before + leastArena(s, lives)
	for _, l := range lives {
		m.Bound -= l.size
	}
	return m
}

// deviceBytes is plansize.BytesOf.
func deviceBytes(s *ir.Schedule) (before, after int64) {
	used := usedBuffers(s.Graph)
	arena := int64(0)
	for b := range s.Graph.Buffers {
		buf := &s.Graph.Buffers[b]
		if buf.Place.Kind != ir.OnDevice || buf.Role == ir.Temporary && !used[b] {
			continue
		}
		size := aligned(buf.Size())
		before += size
		if s.Offset == nil || s.Offset[b] < 0 {
			after += size
		} else {
			arena = max(arena, s.Offset[b]+size)
		}
	}
	return before, after + arena
}

// usedBuffers reports, by buffer, whether an operation of g accesses it.
func usedBuffers(g *ir.Graph) []bool {
	used := make([]bool, len(g.Buffers))
	var scratch [2]ir.Access
	for v := range g.Ops {
		accesses := g.Ops[v].Accesses(&scratch)
		for _, a := range accesses {
			used[a.Buffer] = used[a.Buffer] || !a.Empty()
		}
	}
	return used
}

// leastArena returns a lower bound of the size of an arena: the bytes of a set of lives in which every
// pair conflicts. For at most maxAntichain lives it is the heaviest such set. For more it is the heaviest
// set found at the ranks with the highest load: among the closest lives, or around a single operation.
func leastArena(s *ir.Schedule, lives []life) (bytes int64) {
	d := dagOfSchedule(s)
	if len(lives) <= maxAntichain {
		return antichain(lives, conflictsOf(d, lives))
	}
	for i, r := range loaded(lives, d.Len()) {
		if i < maxCrowds {
			crowd := closest(lives, r)
			bytes = max(bytes, antichain(crowd, conflictsOf(d, crowd)))
		}
		bytes = max(bytes, spanning(d, lives, r))
	}
	return bytes
}

// maxAntichain is the largest number of lives for which the heaviest antichain is computed: its flow network
// takes eight bytes for each pair, 8 MiB.
const maxAntichain = 1 << 10

// antichain returns the size of the heaviest set of pairwise conflicting lives, in bytes. They lie side by
// side in any arena. "Ends before another begins" is a partial order of the lives, and the lives are sorted by
// it.
func antichain(lives []life, conflicts []dense.Set) (bytes int64) {
	sizes := make([]int64, len(lives))
	for i := range lives {
		sizes[i] = lives[i].size
	}
	return dense.HeaviestAntichain(sizes, conflicts)
}

// maxCrowds bounds for how many ranks leastArena computes the heaviest antichain.
const maxCrowds = 2

// closest returns the maxAntichain lives closest to a rank, in their order. Lives that are alive there come first.
func closest(lives []life, r int32) []life {
	byDistance := make([]int, len(lives))
	for i := range byDistance {
		byDistance[i] = i
	}
	slices.SortStableFunc(byDistance, func(i, j int) int { return cmp.Compare(lives[i].distance(r), lives[j].distance(r)) })
	chosen := byDistance[:maxAntichain]
	slices.Sort(chosen)
	some := make([]life, len(chosen))
	for k, i := range chosen {
		some[k] = lives[i]
	}
	return some
}

// distance returns the number of operations submitted between a life and a rank, 0 if it is alive there.
func (l *life) distance(r int32) int32 {
	return max(l.heads[0]-r, r-l.tails[len(l.tails)-1], 0)
}

// spanning returns the bytes of the lives that have begun before the operation at rank r begins, and are not ended
// when it ends. All of them overlap.
func spanning(d *dense.Graph, lives []life, r int32) (bytes int64) {
	begun, open := d.Ancestors(r), d.Descendants(r)
	for i := range lives {
		l := &lives[i]
		if slices.ContainsFunc(l.heads, func(h int32) bool { return begun.Has(int(h)) }) &&
			slices.ContainsFunc(l.tails, func(t int32) bool { return open.Has(int(t)) }) {
			bytes += l.size
		}
	}
	return bytes
}

// loaded returns the ranks with the most live bytes in the order of submission, one for each of up to 32 equal
// parts of a replay, the most loaded first.
func loaded(lives []life, n int) []int32 {
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
	parts := min(32, n)
	var ranks []int32
	for part := range parts {
		at := part * n / parts
		for r := at; r < (part+1)*n/parts; r++ {
			if load[r] > load[at] {
				at = r
			}
		}
		ranks = append(ranks, int32(at))
	}
	slices.SortStableFunc(ranks, func(a, b int32) int { return cmp.Compare(load[b], load[a]) })
	return ranks
}
