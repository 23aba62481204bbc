package des

import (
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
)

// Cache models which bytes of each buffer are in the L2 cache, with LRU replacement of whole buffers. For each buffer
// it holds only the number of resident bytes, not which ones: a task that touches part of a buffer hits the cache in
// the proportion in which the whole buffer is resident. Written bytes stay until they are evicted, and reach DRAM
// then.
type Cache struct {
	size     float64
	held     float64
	resident []resident // least recently used first
}

type resident struct {
	buffer       uint64
	bytes, dirty float64
}

// Use describes the accesses of a task to one buffer. Read and Written count distinct bytes.
type Use struct {
	Buffer        uint64
	Size          float64
	Read, Written float64
}

func (u *Use) touched() float64 { return min(u.Size, max(u.Read, u.Written)) }

// CacheBytes returns how much data L2 holds. The L2 of data-centre devices from compute capability 8.0 on has two
// partitions, and each caches what its multiprocessors read, so that shared data is held twice (NVIDIA A100 Tensor Core
// GPU architecture whitepaper).
func CacheBytes(p *model.Profile) int64 {
	if p.ComputeMajor >= 8 && DataCentre(p) {
		return p.L2Bytes / 2
	}
	return p.L2Bytes
}

// DataCentre reports whether the chip of a device is one for data centres, by its compute capability: 6.0, 7.0, 8.0, 9.0,
// 10.0 and 10.3. Others are of workstations, games or embedded systems, also 11.0 and 12.0.
func DataCentre(p *model.Profile) bool {
	return p.ComputeMajor >= 6 && p.ComputeMajor <= 10 && p.ComputeMinor == 0 || p.ComputeMajor == 10 && p.ComputeMinor == 3
}

// NewCache returns an empty cache.
func NewCache(p *model.Profile) *Cache { return &Cache{size: float64(CacheBytes(p))} }

// Forget drops a freed buffer without writing it back.
func (c *Cache) Forget(buffer uint64) {
	if i := c.find(buffer); i >= 0 {
		c.held -= c.resident[i].bytes
		c.resident = slices.Delete(c.resident, i, i+1)
	}
}

// Touch applies the accesses of a task, one buffer after another. It returns the bytes fetched from DRAM and the
// bytes that are written back to make room.
func (c *Cache) Touch(uses []Use) (fetched, evicted float64) {
	var footprint float64
	for i := range uses {
		footprint += uses[i].touched()
	}
	// A task whose footprint exceeds the cache evicts buffers that it has not accessed yet.
	kept := 1.0
	if footprint > c.size {
		kept = max(0, 2-footprint/max(c.size, 1))
	}
	for i := range uses {
		u := &uses[i]
		fetched += u.Read * (1 - kept*c.share(u))
		evicted += c.load(u) + c.shrink()
	}
	return fetched, evicted
}

// share returns the resident fraction of a buffer.
func (c *Cache) share(u *Use) float64 {
	i := c.find(u.Buffer)
	if i < 0 || u.Size <= 0 {
		return 0
	}
	return min(1, c.resident[i].bytes/u.Size)
}

// load makes a buffer the most recently used one. It returns the bytes that are written back at once because the
// buffer is larger than the cache.
func (c *Cache) load(u *Use) (evicted float64) {
	r := resident{buffer: u.Buffer}
	if i := c.find(u.Buffer); i >= 0 {
		r = c.resident[i]
		c.held -= r.bytes
		c.resident = slices.Delete(c.resident, i, i+1)
	}
	// The resident fraction of the touched bytes adds nothing.
	r.bytes = min(u.Size, r.bytes+u.touched()*(1-min(1, r.bytes/max(u.Size, 1))))
	r.dirty = min(r.bytes, max(r.dirty, u.Written))
	if r.bytes > c.size {
		evicted = max(0, u.Written-c.size)
		r.bytes, r.dirty = c.size, min(r.dirty, c.size)
	}
	c.held += r.bytes
	c.resident = append(c.resident, r)
	return evicted
}

// shrink evicts the least recently used bytes until the rest fits in the cache. It returns the bytes written back.
func (c *Cache) shrink() (evicted float64) {
	for c.held > c.size && len(c.resident) > 0 {
		r := &c.resident[0]
		gone := min(r.bytes, c.held-c.size)
		back := r.dirty * gone / max(r.bytes, 1)
		evicted += back
		r.bytes, r.dirty = r.bytes-gone, r.dirty-back
		c.held -= gone
		if r.bytes < 1 {
			c.held -= r.bytes
			c.resident = slices.Delete(c.resident, 0, 1)
		}
	}
	return evicted
}

func (c *Cache) find(buffer uint64) int {
	return slices.IndexFunc(c.resident, func(r resident) bool { return r.buffer == buffer })
}
