package interp

import "sync"

// undo keeps what pages held before blocks that run side by side stored to
// them, so that a launch whose blocks turn out to clash can be run again, in
// grid order.
type undo struct {
	mu    sync.Mutex // of the states of allocations that a launch meets
	locks [64]sync.Mutex
}

// savedPage is a page as it was.
type savedPage struct {
	of    *allocation
	index uint32
	bytes *[pageBytes]byte
}

// admit readies an allocation for its pages to be saved.
func (u *undo) admit(a *allocation) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if a.saved == nil {
		a.saved = make([]bool, (a.size+pageBytes-1)/pageBytes)
	}
}

// save keeps a page unless another engine has. The lock also holds back a store
// to the page while another engine is copying it.
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

// release lets go of the saved pages, after putting them back when restore.
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
