package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
)

// sweepArena places lives by first use, each at the lowest bytes that are free: new ones
// on top, or those whose last buffer ends before the life begins. Any earlier ones do so,
// too, since each of them ended before the next. So one owner a byte is all there is to
// know, and nothing grows with the square of the lives:
//
//	├── x ──┼──── y ────┼─ w ─┤      z follows x and w, and not y; it is too large
//	├── x ──┼──── y ────┼─ w ─┼─z─┤  for x, so it takes w's place and more
//
// Which owners a life follows is asked for many lives at once. Bytes that none of them
// can have are set aside until the next are asked.
func sweepArena(d *dense.Graph, lives []life) []int64 {
	a := arena{lives: lives, at: make([]int64, len(lives)), know: precedence{sweep: dense.NewSweep(d)}}
	for first := 0; first < len(lives); {
		end := first + a.know.ask(lives[first:], a.lowest(first))
		a.open()
		for i := first; i < end; i++ {
			a.place(int32(i))
		}
		a.close()
		first = end
	}
	return a.at
}

// arena is a line of rooms, each with the last life to have it. There are no gaps.
type arena struct {
	lives []life
	at    []int64
	know  precedence
	top   int64
	aside []room        // that none of the lives asked about can have
	rooms []room        // that some can: a list by offset, which starts behind the first
	after []dense.Block // by room: the columns that come after its owner
	last  int32         // of the list
}

// room is bytes of the arena.
type room struct {
	lo, hi int64
	owner  int32
	next   int32 // in rooms, 0 at the end
}

// lowest is the first tail of any owner and of those that will be: what lies before it
// cannot matter.
func (a *arena) lowest(first int) int32 {
	low := a.lives[first].heads[0]
	for i := range a.aside {
		low = min(low, a.lives[a.aside[i].owner].tails[0])
	}
	return low
}

// open finds out which rooms can be had.
func (a *arena) open() {
	all := a.aside
	a.aside = a.aside[:0]
	a.rooms, a.after = append(a.rooms[:0], room{}), append(a.after[:0], dense.Block{})
	for _, p := range all {
		after := a.know.after(&a.lives[p.owner])
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

// close sets all rooms aside.
func (a *arena) close() {
	for i := a.rooms[0].next; i != 0; i = a.rooms[i].next {
		a.aside = append(a.aside, a.rooms[i])
	}
	slices.SortFunc(a.aside, func(p, q room) int { return cmp.Compare(p.lo, q.lo) })
}

// place finds the lowest bytes that a life can have.
func (a *arena) place(i int32) {
	l := &a.lives[i]
	heads, follows := a.know.heads(l)
	before, lo, hi := int32(0), a.top, a.top // the run of rooms that follow one another
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

// take gives a life the bytes from lo on, behind a place of the list.
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
	if after := a.know.after(l); after.Empty() {
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
