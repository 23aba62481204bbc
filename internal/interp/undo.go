package interp

import "sync"

// undo saves the contents of pages before concurrent blocks store to them. If the blocks
// clash, the launch is undone and runs again in grid order. A page is saved by the first
// engine that stores to it; the locks are striped by page number.
type undo struct {
	mu    sync.Mutex // protects the saved state of allocations
	locks [64]sync.Mutex
}

// savedPage is the old contents of a page.
type savedPage struct {
	of    *allocation
	index uint32
	bytes *[pageBytes]byte
}

// admit prepares an allocation for saving its pages.
func (u *undo) admit(a *allocation) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if a.saved == nil {
		a.saved = make([]bool, (a.size+pageBytes-1)/pageBytes)
	}
}

// save copies a page unless another engine has copied it. The lock also delays a store to
// the page while another engine copies it: the store follows save.
//
//go:norace
func (e *engine) save(a *allocation, i uint32) {
	lock := &e.run.undo.locks[i%uint32(len(e.run.undo.locks))]
	lock.Lock()
	defer lock.Unlock()
	if a.saved[i] {
		return
	}
	a.saved[i] = true
	s := savedPage{a, i, e.run.pool.copy()}
	copy(s.bytes[:], a.page(i))
	e.saved = append(e.saved, s)
}

// release drops the saved pages. With restore, it first copies them back.
func (e *engine) release(restore bool) {
	for i := range e.saved {
		s := &e.saved[i]
		if restore {
			copy(s.of.page(s.index), s.bytes[:])
		}
		s.of.saved[s.index] = false
		e.run.pool.putCopy(s.bytes)
	}
	clear(e.saved)
	e.saved = e.saved[:0]
}
