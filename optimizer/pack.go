package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
)

// Packing of lives into an arena, when all pairs that conflict are known. It is dynamic
// storage allocation, which is NP-hard (Garey and Johnson, SR2), with one thing changed: what
// may not overlap is a relation, not the overlap of intervals in time, for a schedule
// of several lanes has no one time. Buffers are placed one by one, each where nothing that
// is placed and conflicts lies; some order of lowest places is an optimum, so what
// remains is to choose orders. Each of these wins somewhere:
//
//	by size        largest first (Pisarchyk and Lee, "Efficient Memory Management for Deep
//	               Neural Net Inference", 2020)
//	by conflicts   those first that the most bytes conflict with, the longest lives where
//	               there is one time (after Sekiyama et al., "Profile-guided memory
//	               optimization for deep neural networks", 2018)
//	by area        size times that
//	by first use   what an allocator would have done at run time
//
// each with the lowest gap and with the tightest. From the best of them on, what ends
// highest is placed first, again and again, as in hill climbing, for as long as it is worth.

// maxPacked is the most lives whose conflicts are held as a bit for each pair: 2 MiB.
const maxPacked = 1 << 12

// maxLooks is how many pairs packing may look at, a second's worth at most.
const maxLooks = 1 << 27

// pack returns an offset for each life.
func pack(lives []life, conflicts []dense.Set) []int64 {
	p := newPacker(lives, conflicts)
	for _, order := range p.orders() {
		for _, tight := range []bool{false, true} {
			p.try(order, tight)
		}
	}
	p.climb()
	return p.best.at
}

type packer struct {
	lives     []life
	conflicts []dense.Set
	least     int64 // no arena is smaller
	looks     int   // that are left
	best      packing
}

// packing is an arena.
type packing struct {
	order []int32
	tight bool
	at    []int64 // by life
	top   int64   // where the arena ends
}

func newPacker(lives []life, conflicts []dense.Set) *packer {
	p := &packer{lives: lives, conflicts: conflicts, looks: maxLooks}
	if len(lives) <= maxAntichain {
		p.least = antichain(lives, conflicts)
	}
	return p
}

// orders are those that are tried first.
func (p *packer) orders() [][]int32 {
	conflicting := make([]int64, len(p.lives)) // bytes, by life
	for i, c := range p.conflicts {
		for j := c.Next(0); j >= 0; j = c.Next(j + 1) {
			conflicting[i] += p.lives[j].size
		}
	}
	size := func(i int32) float64 { return float64(p.lives[i].size) }
	weight := func(i int32) float64 { return float64(conflicting[i]) }
	return [][]int32{
		p.orderBy(size, weight),
		p.orderBy(weight, size),
		p.orderBy(func(i int32) float64 { return size(i) * weight(i) }, size),
		p.orderBy(func(int32) float64 { return 0 }, func(int32) float64 { return 0 }),
	}
}

// orderBy puts the greatest first; ties go to the second key, then to first use.
func (p *packer) orderBy(first, second func(int32) float64) []int32 {
	order := make([]int32, len(p.lives))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(first(b), first(a)), cmp.Compare(second(b), second(a)))
	})
	return order
}

// try places all in an order and keeps what comes out if it is the best so far.
func (p *packer) try(order []int32, tight bool) bool {
	if p.best.at != nil && (p.best.top == p.least || p.looks < 0) {
		return false
	}
	c := packing{order: order, tight: tight, at: make([]int64, len(order))}
	var placed []int32 // by offset
	for _, i := range order {
		c.at[i] = p.place(i, &c, placed)
		c.top = max(c.top, c.at[i]+p.lives[i].size)
		k, _ := slices.BinarySearchFunc(placed, c.at[i], func(j int32, at int64) int { return cmp.Compare(c.at[j], at) })
		placed = slices.Insert(placed, k, i)
	}
	if p.best.at != nil && c.top >= p.best.top {
		return false
	}
	p.best = c
	return true
}

// place finds a gap between those of placed that conflict with a life.
func (p *packer) place(i int32, c *packing, placed []int32) int64 {
	size, conflicts := p.lives[i].size, p.conflicts[i]
	end, at, room := int64(0), int64(-1), int64(0)
	p.looks -= len(placed)
	for _, j := range placed {
		if !conflicts.Has(int(j)) {
			continue
		}
		if gap := c.at[j] - end; gap >= size && (at < 0 || gap < room) {
			at, room = end, gap
			if !c.tight {
				return at
			}
		}
		end = max(end, c.at[j]+p.lives[j].size)
	}
	if at < 0 {
		return end
	}
	return at
}

// climb moves what ends highest to the front of the best order.
func (p *packer) climb() {
	for moved := true; moved; {
		moved = false
		best := p.best
		for _, i := range best.order {
			if best.at[i]+p.lives[i].size < best.top {
				continue
			}
			order := slices.DeleteFunc(slices.Clone(best.order), func(j int32) bool { return j == i })
			if p.try(slices.Insert(order, 0, i), best.tight) {
				moved = true
				break
			}
		}
	}
}
