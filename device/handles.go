package device

import "fmt"

// Handles gives out handles of one kind and finds what they stand for. A handle
// is never given out twice, so one that was destroyed stays recognizable. Looking one up
// takes two loads: replays do it with every call.
type Handles[H ~uint64, T any] struct {
	Kind  string // what errors call it: "stream"
	last  H
	count int
	pages []*page[T] // handle h is entry h-1; nil where all have been destroyed
}

const pageSize = 64

// page holds consecutive handles.
type page[T any] struct {
	live  uint64 // a bit each
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

// Get returns what h stands for, or an *Error without its Call.
func (t *Handles[H, T]) Get(h H) (v T, err *Error) {
	if p := t.page(h); p != nil {
		return p.value[uint64(h-1)%pageSize], nil
	}
	return v, t.unknown(h)
}

// page is where h is live, nil for nowhere.
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

func (t *Handles[H, T]) unknown(h H) *Error {
	why := "was never created"
	switch {
	case h == 0:
		why = "is the zero handle"
	case h <= t.last:
		why = "has been destroyed"
	}
	return &Error{Code: InvalidHandle, Detail: fmt.Sprintf("%s %d %s", t.Kind, uint64(h), why)}
}

// Remove takes h out and returns what it stood for.
func (t *Handles[H, T]) Remove(h H) (v T, err *Error) {
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

// Len is how many handles are live.
func (t *Handles[H, T]) Len() int { return t.count }

// All lists the live handles in order of creation.
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
