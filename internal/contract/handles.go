package contract

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
)

// Handles maps handles of one kind to their values. A handle is never reused, so that a destroyed handle can be told
// from one that never existed. A lookup takes two loads, because every call of a replay makes one.
type Handles[H ~uint64, T any] struct {
	Kind  string // name of the kind in errors, such as "stream"
	last  H
	count int
	pages []*page[T] // handle h is entry h-1; a page is nil after all its handles were destroyed
}

const pageSize = 64

// page holds 64 consecutive handles.
type page[T any] struct {
	live  uint64 // bit i is set if handle i of the page is live
	value [pageSize]T
}

// Add returns a new handle for v.
func (t *Handles[H, T]) Add(v T) H {
	i := uint64(t.last)
	if i%pageSize == 0 {
		t.pages = append(t.pages, &page[T]{})
	}
	p := t.pages[i/pageSize]
	p.live |= 1 << (i % pageSize)
	p.value[i%pageSize] = v
	t.count++
	t.last++
	return t.last
}

// Get returns the value of h, or an *Error with an empty Call.
func (t *Handles[H, T]) Get(h H) (v T, err *device.Error) {
	if p := t.page(h); p != nil {
		return p.value[uint64(h-1)%pageSize], nil
	}
	return v, t.unknown(h)
}

// page returns the page of h, or nil if h is not live.
func (t *Handles[H, T]) page(h H) *page[T] {
	i := uint64(h - 1)
	if i >= uint64(t.last) {
		return nil
	}
	p := t.pages[i/pageSize]
	if p == nil || p.live>>(i%pageSize)&1 == 0 {
		return nil
	}
	return p
}

func (t *Handles[H, T]) unknown(h H) *device.Error {
	why := "was never created"
	switch {
	case h == 0:
		why = "is the zero handle"
	case h <= t.last:
		why = "has been destroyed"
	}
	return &device.Error{Code: device.InvalidHandle, Detail: fmt.Sprintf("%s %d %s", t.Kind, uint64(h), why)}
}

// Remove deletes h and returns its value.
func (t *Handles[H, T]) Remove(h H) (v T, err *device.Error) {
	p := t.page(h)
	if p == nil {
		return v, t.unknown(h)
	}
	i := uint64(h - 1)
	v, p.value[i%pageSize] = p.value[i%pageSize], v
	p.live &^= 1 << (i % pageSize)
	t.count--
	if p.live == 0 && uint64(t.last) >= (i/pageSize+1)*pageSize {
		t.pages[i/pageSize] = nil
	}
	return v, nil
}

// Len returns the number of live handles.
func (t *Handles[H, T]) Len() int { return t.count }

// All returns the live handles in order of creation.
func (t *Handles[H, T]) All() []H {
	list := make([]H, 0, t.count)
	for i, p := range t.pages {
		for k := range H(pageSize) {
			if p != nil && p.live>>k&1 != 0 {
				list = append(list, H(i*pageSize)+k+1)
			}
		}
	}
	return list
}
