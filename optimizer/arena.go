package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
)

// sweepArena assigns offsets to lives in order of first use. Each life is placed at the lowest run of adjacent
// rooms whose owners all end before the life begins, or on top. Earlier owners of the same bytes need no
// check: each of them ended before the next began. The arena therefore stores one owner for each byte, and
// needs no pairwise table of lives:
//
//	├── x ──┼──── y ────┼─ w ─┤      z may follow x and w, but not y. It does not fit into
//	├── x ──┼──── y ────┼─ w ─┼─z─┤  the bytes of x, so it takes those of w and more.
//
// Precedence is computed for a batch of lives at a time (see precedence). Rooms that no life of a batch can
// follow are set aside until the next batch.
func sweepArena(d *dense.Graph, lives []life) []int64 {
	a := arena{lives: lives, at: make([]int64, len(lives)), precedence: precedence{sweep: dense.NewSweep(d)}}
	for first := 0; first < len(lives); {
		end := first + a.precedence.start(lives[first:], a.lowest(first))
		a.open()
		for i := first; i < end; i++ {
			a.place(int32(i))
		}
		a.close()
		first = end
	}
	return a.at
}

// arena is a list of adjacent rooms in order of offset, without gaps.
type arena struct {
	lives      []life
	at         []int64 // by life: its offset in bytes
	precedence precedence
	top        int64         // size of the arena, in bytes
	aside      []room        // rooms that no life of the current batch can follow
	rooms      []room        // the other rooms: a linked list by offset; rooms[0] is its head and holds no bytes
	after      []dense.Block // by room: the columns of the batch that its owner precedes
	last       int32         // of the list
}

// room is a range of bytes and the last life placed there.
type room struct {
	lo, hi int64
	owner  int32
	next   int32 // index in rooms, 0 at the end
}

// lowest returns the smallest tail of any owner or future owner. The batch need not consider earlier operations.
func (a *arena) lowest(first int) int32 {
	low := a.lives[first].heads[0]
	for i := range a.aside {
		low = min(low, a.lives[a.aside[i].owner].tails[0])
	}
	return low
}

// open divides the rooms into those that some life of the batch can follow and those set aside.
func (a *arena) open() {
	all := a.aside
	a.aside = a.aside[:0]
	a.rooms, a.after = append(a.rooms[:0], room{}), append(a.after[:0], dense.Block{})
	for _, p := range all {
		after := a.precedence.after(&a.lives[p.owner])
		if after.Empty() {
			a.aside = append(a.aside, p)
			continue
		}
		a.rooms[len(a.rooms)-1].next = int32(len(a.rooms))
		p.next = 0
		a.rooms, a.after = append(a.rooms, p), append(a.after, after)
	}
	a.last = int32(len(a.rooms) - 1)
}

// close sets all rooms aside, sorted by offset.
func (a *arena) close() {
	for i := a.rooms[0].next; i != 0; i = a.rooms[i].next {
		a.aside = append(a.aside, a.rooms[i])
	}
	slices.SortFunc(a.aside, func(p, q room) int { return cmp.Compare(p.lo, q.lo) })
}

// place finds the lowest bytes for a life: the first run of adjacent rooms that it follows and that is large
// enough. The last run may be extended beyond the top.
func (a *arena) place(i int32) {
	l := &a.lives[i]
	heads, follows := a.precedence.heads(l)
	before, lo, hi := int32(0), a.top, a.top // the current run is [lo, hi); before is the room in front of it
	for last, at := int32(0), a.rooms[0].next; follows && at != 0 && hi-lo < l.size; last, at = at, a.rooms[at].next {
		p := &a.rooms[at]
		switch {
		case !a.after[at].HasAll(heads):
			continue
		case p.lo != hi || lo == hi:
			before, lo = last, p.lo
		}
		hi = p.hi
	}
	if hi-lo < l.size && (hi != a.top || lo == hi) {
		before, lo = a.last, a.top
	}
	a.take(i, before, lo)
}

// take assigns the bytes from lo on to a life and inserts its room behind the room before. Rooms that it covers are
// removed, and one that it covers in part is cut.
func (a *arena) take(i, before int32, lo int64) {
	l := &a.lives[i]
	a.at[i] = lo
	hi := lo + l.size
	a.top = max(a.top, hi)
	next := a.rooms[before].next
	for next != 0 && a.rooms[next].hi <= hi {
		next = a.rooms[next].next
	}
	if next != 0 {
		a.rooms[next].lo = max(a.rooms[next].lo, hi)
	}
	a.rooms[before].next = next
	p := room{lo, hi, i, next}
	if after := a.precedence.after(l); after.Empty() {
		a.aside = append(a.aside, p)
	} else {
		a.rooms[before].next = int32(len(a.rooms))
		a.rooms, a.after = append(a.rooms, p), append(a.after, after)
		before = a.rooms[before].next
	}
	if next == 0 {
		a.last = before
	}
}
