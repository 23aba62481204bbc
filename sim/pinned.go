package sim

import (
	"fmt"
	"sort"
)

// pinnedBase is where pinned memory's addresses begin. Device memory lies far
// below, and the interpreter knows nothing here: a kernel that touches pinned
// memory faults.
const pinnedBase = 0x5000_0000_0000

// pinnedAlign is the distance unit between blocks: a page.
const pinnedAlign = 4096

func isPinned(addr uint64) bool { return addr >= pinnedBase }

// pinned is host memory that copies can reach. Addresses only ascend.
type pinned struct {
	blocks []pinnedBlock // by address
	next   uint64
}

type pinnedBlock struct {
	base uint64
	data []byte
	name string
}

func (p *pinned) alloc(n int64) (uint64, []byte) {
	base := max(p.next, pinnedBase)
	p.next = base + (uint64(n)/pinnedAlign+2)*pinnedAlign
	b := make([]byte, n)
	p.blocks = append(p.blocks, pinnedBlock{base, b, fmt.Sprintf("the %d-byte pinned allocation", n)})
	return base, b
}

func (p *pinned) find(addr uint64) int {
	return sort.Search(len(p.blocks), func(i int) bool { return p.blocks[i].base > addr }) - 1
}

// base is the start of the block that holds addr.
func (p *pinned) base(addr uint64) uint64 {
	if i := p.find(addr); i >= 0 {
		return p.blocks[i].base
	}
	return addr
}

func (p *pinned) rename(base uint64, name string) {
	if i := p.find(base); i >= 0 && p.blocks[i].base == base {
		p.blocks[i].name = name
	}
}

// name is what the block at base is called.
func (p *pinned) name(base uint64) string {
	if i := p.find(base); i >= 0 {
		return p.blocks[i].name
	}
	return "pinned memory"
}

func (p *pinned) free(addr uint64) (int64, error) {
	i := p.find(addr)
	if i < 0 || p.blocks[i].base != addr {
		return 0, fmt.Errorf("no pinned allocation starts at %#x, or it was freed before", addr)
	}
	size := int64(len(p.blocks[i].data))
	p.blocks = append(p.blocks[:i], p.blocks[i+1:]...)
	return size, nil
}

func (p *pinned) bytes(addr uint64, n int64) ([]byte, error) {
	i := p.find(addr)
	if i < 0 {
		return nil, fmt.Errorf("no pinned allocation holds %#x", addr)
	}
	b := p.blocks[i]
	at := addr - b.base
	if size := uint64(len(b.data)); at > size || uint64(n) > size-at {
		return nil, fmt.Errorf("%d bytes at byte %d of the pinned allocation of %d bytes at %#x", n, at, size, b.base)
	}
	return b.data[at:][:n:n], nil
}
