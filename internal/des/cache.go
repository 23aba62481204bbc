package des

import "slices"

// Cache is what of each buffer the last tasks left in the L2 cache: whole buffers,
// the least recently used going first. Within a buffer it knows how much is
// there and not which bytes, so a task that touches part of a buffer finds the
// same share of it as there is of the whole. Written bytes stay until they are
// displaced, and reach DRAM then.
type Cache struct {
	size     float64
	held     float64
	resident []resident // least recently used first
}

type resident struct {
	buffer       uint64
	bytes, dirty float64
}

// Use is what a task does with one buffer: distinct bytes, each counted once.
type Use struct {
	Buffer        uint64
	Size          float64
	Read, Written float64
}

func (u *Use) touched() float64 { return min(u.Size, max(u.Read, u.Written)) }

// NewCache returns an empty cache.
func NewCache(p *Profile) *Cache { return &Cache{size: float64(p.L2Bytes)} }

// Forget drops a buffer that was freed: nobody wants its bytes.
func (c *Cache) Forget(buffer uint64) {
	if i := c.find(buffer); i >= 0 {
		c.held -= c.resident[i].bytes
		c.resident = slices.Delete(c.resident, i, i+1)
	}
}

// Touch runs a task through the cache, one buffer after another. It returns the bytes it must fetch from
// DRAM, of those it reads, and the bytes that are written back to make room.
func (c *Cache) Touch(uses []Use) (fetched, evicted float64) {
	var footprint float64
	for i := range uses {
		footprint += uses[i].touched()
	}
	// A task that overflows the cache displaces what it has not come to yet.
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

// share is how much of what a task touches of a buffer is there.
func (c *Cache) share(u *Use) float64 {
	i := c.find(u.Buffer)
	if i < 0 || u.Size <= 0 {
		return 0
	}
	return min(1, c.resident[i].bytes/u.Size)
}

// load makes a buffer the most recently used, and returns what of it is written
// back already because it does not fit in one piece.
func (c *Cache) load(u *Use) (evicted float64) {
	r := resident{buffer: u.Buffer}
	if i := c.find(u.Buffer); i >= 0 {
		r = c.resident[i]
		c.held -= r.bytes
		c.resident = slices.Delete(c.resident, i, i+1)
	}
	// Of what is touched, the share that was there is there already.
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

// shrink displaces the least recently used bytes until the rest fits.
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
