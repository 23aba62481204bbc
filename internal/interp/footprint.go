package interp

import "unsafe"

// When blocks run concurrently, each engine records which bytes its blocks read, stored and
// updated: one bit per byte, in pages that are allocated when they are first touched.
//
//	reach ─► pages[i] ─► touched[loads]    1 bit per byte of 4096 bytes
//	                     touched[stores]
//	                     touched[updates]
//
// Engines run the blocks that they take in grid order. If no byte that one engine wrote was
// touched by another, the result is therefore that of all blocks in grid order.

// pageBytes is small, since a kernel that stores one word of a page pays for the whole
// page, and large enough that few accesses touch a new page.
const pageBytes = 4096

// page contains the bits of one page of an allocation, by accessKind.
type page struct {
	touched [updates + 1][pageBytes / 64]uint64
	index   uint32 // in its allocation
	saved   bool   // its old contents are saved, so it may be stored to
}

// reach is the part of an allocation that one engine has touched in this launch.
type reach struct {
	*allocation
	read, written bool
	pages         []*page // by index, nil if untouched; empty unless blocks run concurrently
	marked        []*page // the touched pages
	lo, extent    uint64  // the bytes [lo, lo+extent) that sites may access without a further check
	visited       bitmap  // of managed memory, by page
}

// holds reports whether n bytes at addr are in the part that needs no further check.
func (r *reach) holds(addr, n uint64) bool {
	off := addr - r.lo
	return off <= r.extent && n <= r.extent-off
}

// touch records an access to a.
func (e *engine) touch(a *allocation, kind accessKind) *reach {
	r := e.reachOf[a]
	if r == nil {
		r = e.extend(a)
	}
	r.read, r.written = r.read || kind != stores, r.written || kind != loads
	return r
}

// extend adds a to the allocations that e has touched.
func (e *engine) extend(a *allocation) *reach {
	n := len(e.reached)
	// Objects behind the length are reused from earlier launches.
	if n == cap(e.reached) {
		e.reached = append(e.reached, &reach{})
	} else {
		e.reached = e.reached[:n+1]
		if e.reached[n] == nil {
			e.reached[n] = &reach{}
		}
	}
	r := e.reached[n]
	r.allocation, r.read, r.written = a, false, false
	r.lo, r.extent = a.base, a.size
	if a.managed {
		r.visited = append(r.visited[:0], make(bitmap, bitmapWords(a.pageCount()))...)
	}
	e.reachOf[a] = r
	if e.tracking {
		r.pages = resized(r.pages, int((a.size+pageBytes-1)/pageBytes))
		e.run.undo.admit(a)
	}
	return r
}

// resized returns s with n elements, all zero.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// forget drops the references to what the launch touched.
func (e *engine) forget() {
	for _, r := range e.reached {
		for _, p := range r.marked {
			r.pages[p.index] = nil
			*p = page{}
		}
		e.run.pool.putPages(r.marked)
		r.marked, r.allocation = r.marked[:0], nil
	}
	e.reached = e.reached[:0]
	clear(e.reachOf)
	clear(e.cache)
}

// mark records an access to n bytes at an offset, 64 bytes at a time. It must precede a
// store, since opening a page saves its old contents.
func (e *engine) mark(r *reach, off, n uint64, kind accessKind) {
	for {
		p := r.pages[off/pageBytes]
		if p == nil || kind == stores && !p.saved {
			p = e.openPage(r, uint32(off/pageBytes), kind)
		}
		first := off % 64
		here := min(64-first, n)
		p.touched[kind][off%pageBytes/64] |= ^uint64(0) >> (64 - here) << first
		if n -= here; n == 0 {
			return
		}
		off += here
	}
}

// openPage prepares page i of r for an access.
func (e *engine) openPage(r *reach, i uint32, kind accessKind) *page {
	p := r.pages[i]
	if p == nil {
		// Too much memory would be needed to record the launch.
		if e.run.pool.opened.Add(1) == maxOpened {
			e.run.abandon()
		}
		p = e.run.pool.page()
		p.index = i
		r.pages[i] = p
		r.marked = append(r.marked, p)
	}
	if kind == stores && !p.saved {
		e.save(r.allocation, i)
		p.saved = true
	}
	return p
}

// clash reports whether the result may differ from that of the blocks in grid order. Each
// pair of engines is compared on the pages that both touched, so the cost is linear in the
// touched pages times the engines.
func (r *run) clash() bool {
	for _, e := range r.engines {
		for _, t := range e.reached {
			if !t.written {
				continue
			}
			if t.readsUpdates() {
				return true
			}
			for _, other := range r.engines {
				if u := other.reachOf[t.allocation]; other != e && u != nil && t.clashes(u) {
					return true
				}
			}
		}
	}
	return false
}

// clashes reports whether u's engine touched some byte that t's engine wrote. Updates
// on both sides do not count, as they are applied in grid order.
func (t *reach) clashes(u *reach) bool {
	for _, p := range t.marked {
		q := u.pages[p.index]
		if q == nil {
			continue
		}
		var both uint64
		for i := range p.touched[0] {
			seen := q.touched[loads][i] | q.touched[stores][i]
			both |= p.touched[stores][i]&(seen|q.touched[updates][i]) | p.touched[updates][i]&seen
		}
		if both != 0 {
			return true
		}
	}
	return false
}

// readsUpdates reports whether t's engine read or stored bytes that it also updates;
// updates are applied only when all blocks have ended.
func (t *reach) readsUpdates() bool {
	for _, p := range t.marked {
		for i, u := range p.touched[updates] {
			if u&(p.touched[loads][i]|p.touched[stores][i]) != 0 {
				return true
			}
		}
	}
	return false
}

// page returns the bytes of page i, fewer at the end of a.
func (a *allocation) page(i uint32) []byte {
	first := uint64(i) * pageBytes
	return unsafe.Slice((*byte)(unsafe.Add(a.data, uintptr(first))), min(pageBytes, a.size-first))
}
