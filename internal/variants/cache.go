// Package variants caches values that are expensive to make and hold memory: programs that were compiled for one shape of
// their inputs each.
package variants

import (
	"container/list"
	"context"
	"errors"
	"sync"

	"github.com/reprise-gpu/reprise/internal/sentinel"
)

// Bounds limit the values that a cache keeps. Zero is no limit.
type Bounds struct {
	Entries int
	Bytes   int64
}

// Stats counts what happened to the calls of Get, and describes what the cache holds.
type Stats struct {
	Hits      int   // calls that found a value, or waited while another call made it
	Misses    int   // calls that made a value, or failed to
	Evictions int   // values that were dropped for the bounds, or for the memory of another value
	Entries   int   // values that the cache keeps
	Bytes     int64 // their memory
	Held      int64 // memory of dropped values that are still in use
}

var errClosed = sentinel.New(sentinel.ErrClosed, "the cache is closed")

// Cache keeps values by key. Any goroutine may call its methods.
//
// Invariants: used contains the ready entries of byKey, most recently used first. stats.Bytes is the sum of their bytes.
type Cache[K comparable, V any] struct {
	bounds Bounds
	drop   func(V) error // frees a value that nothing uses

	mu     sync.Mutex
	byKey  map[K]*entry[K, V]
	used   *list.List
	stats  Stats
	closed bool
	failed error // of freeing a value, for Close
}

// entry is a value, or one that is being made.
type entry[K comparable, V any] struct {
	key   K
	ready chan struct{} // closed when value or err is set
	value V
	err   error
	bytes int64
	users int           // calls of Get without their release
	place *list.Element // nil if the cache does not keep the entry
}

// New returns an empty cache. drop frees a value. It is called once for each value, without a lock of the cache.
func New[K comparable, V any](b Bounds, drop func(V) error) *Cache[K, V] {
	return &Cache[K, V]{bounds: b, drop: drop, byKey: map[K]*entry[K, V]{}, used: list.New()}
}

// Get returns the value of a key. If there is none, make returns it with its size in bytes. Calls with the same key that
// arrive in the meantime wait for it, and get the same value or the same error. An error is not kept. If make fails for
// lack of memory, the least recently used value without users is dropped, and make is called again.
//
// The value stays valid until release is called, which frees it if the cache has dropped it.
func (c *Cache[K, V]) Get(ctx context.Context, key K, make func() (V, int64, error)) (value V, release func() error, err error) {
	if err := ctx.Err(); err != nil {
		return value, nil, err
	}
	e, own, err := c.enter(key)
	if err != nil {
		return value, nil, err
	}
	if own {
		err = c.fill(e, make)
	} else {
		err = c.await(ctx, e)
	}
	if err != nil {
		return value, nil, err
	}
	return e.value, sync.OnceValue(func() error { return c.release(e) }), nil
}

// enter returns the entry of a key with one more user. own is true if the caller must fill it.
func (c *Cache[K, V]) enter(key K) (e *entry[K, V], own bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false, errClosed
	}
	if e = c.byKey[key]; e != nil {
		c.stats.Hits++
		e.users++
		if e.place != nil {
			c.used.MoveToFront(e.place)
		}
		return e, false, nil
	}
	c.stats.Misses++
	e = &entry[K, V]{key: key, ready: make(chan struct{}), users: 1}
	c.byKey[key] = e
	return e, true, nil
}

// await waits until another call has filled an entry.
func (c *Cache[K, V]) await(ctx context.Context, e *entry[K, V]) error {
	select {
	case <-e.ready:
		return e.err // a failed entry has no value to release
	case <-ctx.Done():
		return errors.Join(ctx.Err(), c.release(e))
	}
}

// errPanic is the error of calls that waited for a value whose function panicked.
var errPanic = errors.New("the function that makes the value panicked or ended its goroutine")

// fill makes the value of an entry. If make panics, so does fill, after the waiting calls have got an error.
func (c *Cache[K, V]) fill(e *entry[K, V], make func() (V, int64, error)) error {
	value, bytes, err := *new(V), int64(0), errPanic
	defer func() {
		if err == errPanic {
			c.settle(e, value, bytes, err)
		}
	}()
	value, bytes, err = make()
	for errors.Is(err, sentinel.ErrOutOfMemory) && c.shrink() {
		value, bytes, err = make()
	}
	return c.settle(e, value, bytes, err)
}

// settle sets the value or the error of an entry, drops values beyond the bounds, and returns the error of the entry.
func (c *Cache[K, V]) settle(e *entry[K, V], value V, bytes int64, err error) error {
	c.mu.Lock()
	unwanted := err == nil && c.closed
	if unwanted {
		err = errClosed
	}
	e.value, e.bytes, e.err = value, bytes, err
	var idle []*entry[K, V]
	if err != nil {
		delete(c.byKey, e.key)
	} else {
		c.keep(e)
		idle = c.excess()
	}
	close(e.ready)
	c.mu.Unlock()
	if unwanted {
		return errors.Join(err, c.drop(value))
	}
	c.free(idle)
	return err
}

// keep adds an entry to those that the cache keeps.
func (c *Cache[K, V]) keep(e *entry[K, V]) {
	e.place = c.used.PushFront(e)
	c.stats.Entries++
	c.stats.Bytes += e.bytes
}

// forget removes an entry from those that the cache keeps. It reports whether nothing uses the value, which the caller then
// frees.
func (c *Cache[K, V]) forget(e *entry[K, V]) (idle bool) {
	c.used.Remove(e.place)
	e.place = nil
	delete(c.byKey, e.key)
	c.stats.Entries--
	c.stats.Bytes -= e.bytes
	if e.users > 0 {
		c.stats.Held += e.bytes
	}
	return e.users == 0
}

// excess forgets the least recently used entries until the bounds hold, and returns those without users. An entry that
// exceeds the bounds by itself is forgotten as well: its users keep it.
func (c *Cache[K, V]) excess() (idle []*entry[K, V]) {
	for c.bounds.Entries > 0 && c.stats.Entries > c.bounds.Entries || c.bounds.Bytes > 0 && c.stats.Bytes > c.bounds.Bytes {
		e := c.used.Back().Value.(*entry[K, V])
		c.stats.Evictions++
		if c.forget(e) {
			idle = append(idle, e)
		}
	}
	return idle
}

// shrink frees the least recently used value without users. It reports whether there was one.
func (c *Cache[K, V]) shrink() bool {
	c.mu.Lock()
	var idle []*entry[K, V]
	for at := c.used.Back(); at != nil && idle == nil; at = at.Prev() {
		if e := at.Value.(*entry[K, V]); e.users == 0 {
			c.stats.Evictions++
			c.forget(e)
			idle = append(idle, e)
			break
		}
	}
	c.mu.Unlock()
	c.free(idle)
	return idle != nil
}

// free frees values. The first error is returned by Close.
func (c *Cache[K, V]) free(idle []*entry[K, V]) {
	for _, e := range idle {
		if err := c.drop(e.value); err != nil {
			c.mu.Lock()
			if c.failed == nil {
				c.failed = err
			}
			c.mu.Unlock()
		}
	}
}

// release removes a user of an entry. It frees the value if it was the last user and the cache does not keep the entry.
func (c *Cache[K, V]) release(e *entry[K, V]) error {
	c.mu.Lock()
	e.users--
	last := e.users == 0 && e.place == nil
	if last {
		c.stats.Held -= e.bytes
	}
	c.mu.Unlock()
	if last {
		return c.drop(e.value)
	}
	return nil
}

// Stats returns the counts so far.
func (c *Cache[K, V]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Close drops all values: those in use when they are released, and those that are being made when they are ready. Later
// calls of Get return an error. Close returns the first error of freeing a value. A second Close does nothing.
func (c *Cache[K, V]) Close() error {
	c.mu.Lock()
	c.closed = true
	var idle []*entry[K, V]
	for c.used.Len() > 0 {
		if e := c.used.Back().Value.(*entry[K, V]); c.forget(e) {
			idle = append(idle, e)
		}
	}
	c.mu.Unlock()
	c.free(idle)
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.failed
	c.failed = nil
	return err
}
