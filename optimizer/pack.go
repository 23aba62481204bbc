package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
)

// Packing of lives into an arena, when all conflicting pairs are known. It is dynamic storage
// allocation, which is NP-hard (Garey and Johnson, SR2), except that conflicts are an arbitrary
// relation instead of an overlap of time intervals: a schedule of several lanes has no single
// time line. Buffers are placed one by one, each into a gap between the conflicting buffers placed
// before. Some order leads to an optimum, so that the search is for orders. Each of these wins
// on some programs:
//
//	by size        largest first (Pisarchyk and Lee, "Efficient Memory Management for Deep
//	               Neural Net Inference", 2020)
//	by conflicts   by descending bytes of conflicting buffers, which are the longest lives on a
//	               single time line (after Sekiyama et al., "Profile-guided memory
//	               optimization for deep neural networks", 2018)
//	by area        by descending product of size and conflicting bytes
//	by first use   as an allocator would place them at run time
//
// Each order is tried with the lowest gap and with the tightest. Then hill climbing starts from the
// best: the buffer that ends highest is moved to the front of the order, as long as that helps.

// maxPacked is the largest number of lives whose conflicts are held as a bit for each pair, in 2 MiB.
const maxPacked = 1 << 12

// maxLooks bounds the number of pairs that packing visits, to about a second.
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

// packer searches the smallest packing.
type packer struct {
	lives     []life
	conflicts []dense.Set
	least     int64 // lower bound of the size of an arena, in bytes
	looks     int   // pairs that may still be visited
	best      packing
}

// packing is an arena and how it was found.
type packing struct {
	order []int32
	tight bool
	at    []int64 // by life
	top   int64   // size of the arena, in bytes
}

func newPacker(lives []life, conflicts []dense.Set) *packer {
	p := &packer{lives: lives, conflicts: conflicts, looks: maxLooks}
	if len(lives) <= maxAntichain {
		p.least = antichain(lives, conflicts)
	}
	return p
}

// orders returns the initial orders.
func (p *packer) orders() [][]int32 {
	conflicting := make([]int64, len(p.lives)) // by life: bytes of conflicting lives
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

// orderBy sorts lives by descending keys; ties of the first key go to the second, then to first use.
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

// try places all lives in an order and keeps the packing if it is the best so far.
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

// place returns the offset of a gap between the placed lives that conflict with life i.
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

// climb moves lives that end highest to the front of the best order until that no longer helps.
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
