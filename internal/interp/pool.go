package interp

import (
	"sync"
	"sync/atomic"
)

// pool holds pages for the launches of a kernel. The engines of a launch share it: the
// engine that touches a page differs between launches, but the number of pages that all of
// them touch is nearly constant.
type pool struct {
	mu     sync.Mutex
	pages  []*page
	copies []*[pageBytes]byte
	opened atomic.Int64 // pages of the current launch
}

// maxOpened is the number of pages that a launch with concurrent blocks may touch. A
// page has 4096 bytes and takes up to 5632 bytes of the host. A launch that touches
// more runs in grid order.
var maxOpened = int64(1 << 18)

// maxKept is the number of pages and copies that are kept for the next launch.
const maxKept = 1 << 14

// trim frees the pages beyond maxKept.
func (p *pool) trim() {
	if len(p.pages) > maxKept {
		p.pages = append([]*page(nil), p.pages[:maxKept]...)
	}
	if len(p.copies) > maxKept {
		p.copies = append([]*[pageBytes]byte(nil), p.copies[:maxKept]...)
	}
}

// page returns a blank page.
func (p *pool) page() *page {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.pages); n > 0 {
		last := p.pages[n-1]
		p.pages = p.pages[:n-1]
		return last
	}
	return &page{}
}

// putPages returns blank pages to the pool.
func (p *pool) putPages(list []*page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages = append(p.pages, list...)
}

// copy returns a buffer for the old contents of a page.
func (p *pool) copy() *[pageBytes]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.copies); n > 0 {
		last := p.copies[n-1]
		p.copies = p.copies[:n-1]
		return last
	}
	return new([pageBytes]byte)
}

// putCopy returns a buffer to the pool.
func (p *pool) putCopy(b *[pageBytes]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.copies = append(p.copies, b)
}
