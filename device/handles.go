package device

import (
	"fmt"
	"maps"
	"slices"
)

// Handles gives out handles of one kind and finds what they stand for. A handle
// is never given out twice, so one that was destroyed stays recognizable.
type Handles[H ~uint64, T any] struct {
	Kind string // what errors call it: "stream"
	last H
	live map[H]T
}

// Add returns a new handle for v.
func (t *Handles[H, T]) Add(v T) H {
	if t.live == nil {
		t.live = map[H]T{}
	}
	t.last++
	t.live[t.last] = v
	return t.last
}

// Get returns what h stands for, or an *Error without its Call.
func (t *Handles[H, T]) Get(h H) (T, *Error) {
	v, ok := t.live[h]
	if !ok {
		return v, t.unknown(h)
	}
	return v, nil
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
func (t *Handles[H, T]) Remove(h H) (T, *Error) {
	v, err := t.Get(h)
	delete(t.live, h)
	return v, err
}

// Len is how many handles are live.
func (t *Handles[H, T]) Len() int { return len(t.live) }

// All lists the live handles in order of creation.
func (t *Handles[H, T]) All() []H { return slices.Sorted(maps.Keys(t.live)) }
