package interp

import (
	"sync"
	"sync/atomic"
)

// pool keeps the pages of a kernel's launches. The engines of a launch share it,
// since which of them touches a page differs from launch to launch, and how many
// pages all of them touch hardly does.
type pool struct {
	mu     sync.Mutex
	pages  []*page
	copies []*[pageBytes]byte
	opened atomic.Int64 // pages, by the launch under way
}

// maxOpened is how many pages a launch may touch side by side, of 4096 bytes each
// and up to 5632 of ours. One that touches more runs in grid order.
var maxOpened = int64(1 << 18)

// maxKept is how many pages and copies are kept for the next launch.
const maxKept = 1 << 14

// trim lets go of what is more than the next launch should find.
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

// putPages takes blank pages back.
func (p *pool) putPages(list []*page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages = append(p.pages, list...)
}

// copy returns room for what a page held.
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

func (p *pool) putCopy(b *[pageBytes]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.copies = append(p.copies, b)
}
