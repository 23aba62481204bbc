package interp

import "sync"

// pool keeps the pages of a kernel's launches. The engines of a launch share it,
// since which of them touches a page differs from launch to launch, and how many
// pages all of them touch hardly does.
type pool struct {
	mu     sync.Mutex
	pages  []*page
	copies []*[pageBytes]byte
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
