package reprise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/variants"
)

// Cache compiles a program once for each shape of its inputs, and keeps the compiled variants. The key states what the
// trace depends on: sizes, numbers of blocks, flags. B holds the buffers that a caller writes and reads.
//
//	type shape struct{ rows, columns int }
//	cache, err := reprise.NewCache[shape, reprise.Buffer](dev, reprise.CacheOptions{Entries: 16})
//	v, err := cache.Get(ctx, shape{64, 48}, func(t *reprise.Tracer, s shape) (reprise.Buffer, error) { ... })
//	defer v.Release()
//	err = v.Exec.Replay(ctx)
//
// Any goroutine may call the methods of a Cache. The variants themselves share the device, which only one goroutine may use
// at a time: see [CacheOptions].
type Cache[K comparable, B any] struct {
	dev      Device
	options  CacheOptions
	variants *variants.Cache[K, compiled[B]]
}

// CacheOptions bound a cache and select how its variants are planned.
type CacheOptions struct {
	Options
	Entries int   // largest number of variants that are kept; 0 is no limit
	Bytes   int64 // largest device memory of the variants that are kept; 0 is no limit

	// Lock excludes other uses of the device while the cache records, compiles or frees a variant. It is required if
	// several goroutines use the device, which hold it for their replays, and never when they call the cache. Nil
	// excludes only calls of the cache from each other.
	Lock sync.Locker
}

// CacheStats counts the calls of Get: Hits, and Misses, which compiled. Evictions counts the variants that were dropped for
// the bounds. Entries and Bytes describe the variants that the cache keeps, and Held is the memory of dropped ones that
// are still in use.
type CacheStats = variants.Stats

// Variant is a compiled program from a cache, in use until Release.
type Variant[B any] struct {
	Exec    *Exec
	Trace   *Trace
	Buffers B // the result of the function that recorded the variant

	release func() error
}

// Release ends the use of a variant, and frees it if the cache has dropped it. A second Release does nothing.
func (v *Variant[B]) Release() error { return v.release() }

// compiled is what a cache keeps.
type compiled[B any] struct {
	exec    *Exec
	trace   *Trace
	buffers B
}

// NewCache returns an empty cache for a device. Close it before the device.
func NewCache[K comparable, B any](dev Device, o CacheOptions) (*Cache[K, B], error) {
	switch {
	case absent.Is(dev):
		return nil, absent.Nil("the device")
	case o.Entries < 0 || o.Bytes < 0:
		return nil, errors.New("a bound of a cache is negative: use 0 for no limit")
	}
	if o.Lock == nil {
		o.Lock = new(sync.Mutex)
	}
	c := &Cache[K, B]{dev: dev, options: o}
	c.variants = variants.New[K](variants.Bounds{Entries: o.Entries, Bytes: o.Bytes}, c.free)
	return c, nil
}

// Get returns the variant of a key. If the cache has none, record traces it and Get compiles it. Calls with the same key wait
// for each other, and only the first one records. Beyond the bounds, the variants that were used least recently are
// dropped; those in use stay valid until they are released. If memory does not suffice, Get frees unused variants and
// tries again.
func (c *Cache[K, B]) Get(ctx context.Context, key K, record func(t *Tracer, key K) (B, error)) (*Variant[B], error) {
	switch {
	case ctx == nil:
		return nil, absent.Nil("the context")
	case record == nil:
		return nil, absent.Nil("the function that records a variant")
	}
	made, release, err := c.variants.Get(ctx, key, func() (compiled[B], int64, error) { return c.compile(key, record) })
	if err != nil {
		return nil, err
	}
	return &Variant[B]{made.exec, made.trace, made.buffers, release}, nil
}

// compile records and compiles a variant. It returns the size of its device memory.
func (c *Cache[K, B]) compile(key K, record func(*Tracer, K) (B, error)) (made compiled[B], bytes int64, err error) {
	c.options.Lock.Lock()
	defer c.options.Lock.Unlock()
	defer func() { // also if record panics
		if made.exec == nil && made.trace != nil {
			err = device.Join(err, made.trace.Close())
		}
	}()
	if err := c.record(&made, key, record); err != nil {
		return made, 0, err
	}
	made.exec, bytes, err = c.options.compile(c.dev, made.trace)
	return made, bytes, err
}

// record records a variant. The trace is set even if record fails or panics, so that compile closes it.
func (c *Cache[K, B]) record(made *compiled[B], key K, record func(*Tracer, K) (B, error)) (err error) {
	t := Record(c.dev, fmt.Sprintf("variant %v", key))
	defer func() {
		var finished error
		made.trace, finished = t.Finish()
		err = cmp.Or(err, finished)
	}()
	made.buffers, err = record(t, key)
	return err
}

// free closes a variant.
func (c *Cache[K, B]) free(v compiled[B]) error {
	c.options.Lock.Lock()
	defer c.options.Lock.Unlock()
	return device.Join(v.exec.Close(), v.trace.Close())
}

// Stats returns the counts so far.
func (c *Cache[K, B]) Stats() CacheStats { return c.variants.Stats() }

// Close frees the variants. Those in use are freed when they are released. Close waits for all replays, and returns the first
// error of freeing a variant. Later calls of Get return an ErrClosed.
func (c *Cache[K, B]) Close() error { return c.variants.Close() }
