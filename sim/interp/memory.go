package interp

import (
	"errors"
	"fmt"
	"sort"
	"unsafe"
)

const (
	// firstAddress lies above 4 GiB: an address cut to 32 bits hits nothing.
	firstAddress = 0x2_0000_0000
	// allocAlign is what cudaMalloc promises.
	allocAlign = 256
	// guardGap separates allocations, so that running over the end of one is
	// found and not taken for an access to the next.
	guardGap = 256
	// maxFreed bounds what is remembered of freed blocks.
	maxFreed = 4096

	// Windows of the generic address space. Each block sees its own shared
	// memory, and each thread its own local memory, behind the same addresses.
	sharedWindow = 0x7000_0000_0000
	localWindow  = 0x7100_0000_0000
	paramWindow  = 0x7300_0000_0000 // parameters of kernels
	codeWindow   = 0x7200_0000_0000 // addresses of functions
	windowSize   = 1 << 32
)

// ErrOutOfMemory is what Alloc returns when the limit would be exceeded.
var ErrOutOfMemory = errors.New("out of device memory")

// Memory is the global address space: allocations sorted by address. It must
// not be changed while a kernel runs on it.
type Memory struct {
	workspace   *allocation // of cooperative launches, nil before the first
	limit, used int64
	heapUsed    int64 // by malloc on the device
	next        uint64
	allocs      []*allocation  // by address
	track       bool           // note what is written
	freed       []*allocation  // the latest maxFreed that are gone, for what faults and Free say
	images      map[uint64]any // *Texture or *Image, by handle
	bound       int            // handles given out
}

// allocation is one block of global memory. words backs data so that every
// aligned device address is an aligned host address.
type allocation struct {
	base      uint64
	size      uint64
	name      string
	words     []uint64
	data      unsafe.Pointer
	saved     []bool    // pages of which the launch under way has kept a copy
	heap      bool      // from malloc on the device
	condition bool      // the word of a graph's condition
	valid     *validity // nil when every byte has been written, or nobody wants to know
}

// NewMemory returns an empty address space that holds at most limit bytes.
func NewMemory(limit int64) *Memory {
	return &Memory{limit: limit, next: firstAddress}
}

// Used is the number of bytes allocated.
func (m *Memory) Used() int64 { return m.used }

// Alloc reserves n zeroed bytes at a 256-byte aligned address; name is what
// errors call the block. Addresses depend only on the sequence of calls and
// are never given out twice, so a dangling pointer cannot hit a later block.
func (m *Memory) Alloc(n int64, name string) (uint64, error) {
	if n < 0 {
		return 0, fmt.Errorf("interp: allocation of %d bytes for %s: the size is negative", n, name)
	}
	if n > m.limit-m.used {
		return 0, fmt.Errorf("interp: %w: %d bytes for %s, %d of %d in use", ErrOutOfMemory, n, name, m.used, m.limit)
	}
	a := &allocation{base: m.next, size: uint64(n), name: name, words: make([]uint64, (n+7)/8+1)}
	a.data = unsafe.Pointer(&a.words[0])
	m.next += (uint64(n) + guardGap + allocAlign - 1) &^ (allocAlign - 1)
	m.used += n
	m.allocs = append(m.allocs, a)
	if m.track {
		a.forget()
	}
	return a.base, nil
}

// Free releases the block that starts at addr.
func (m *Memory) Free(addr uint64) error {
	i := m.search(addr)
	if i < 0 || m.allocs[i].base != addr {
		return fmt.Errorf("interp: free of %#x: %s", addr, m.describeFree(addr, i))
	}
	if a := m.allocs[i]; a.heap {
		return fmt.Errorf("interp: free of %#x: %s belongs to the kernels, which free it with free", addr, a.name)
	}
	m.drop(i)
	return nil
}

// drop releases the i-th block.
func (m *Memory) drop(i int) {
	a := m.allocs[i]
	m.allocs = append(m.allocs[:i], m.allocs[i+1:]...)
	m.used -= int64(a.size)
	m.remember(&allocation{base: a.base, size: a.size, name: a.name})
}

// remember keeps a freed block's name, without its bytes.
func (m *Memory) remember(a *allocation) {
	if len(m.freed) == maxFreed {
		m.freed = append(m.freed[:0], m.freed[maxFreed/2:]...)
	}
	m.freed = append(m.freed, a)
}

func (m *Memory) describeFree(addr uint64, i int) string {
	for _, a := range m.freed {
		if a.base == addr {
			return fmt.Sprintf("%s (%d bytes) was freed before", a.name, a.size)
		}
	}
	if i >= 0 && addr < m.allocs[i].base+m.allocs[i].size {
		a := m.allocs[i]
		return fmt.Sprintf("it points %d bytes into %s, free its start %#x", addr-a.base, a.name, a.base)
	}
	return "no allocation starts there"
}

// Bytes is the memory at addr, shared and not copied. The span must lie inside
// one allocation; a span of no bytes may also end one.
func (m *Memory) Bytes(addr uint64, n int64) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("interp: span of %d bytes at %#x: the size is negative", n, addr)
	}
	a := m.find(addr, uint64(n))
	if a == nil {
		return nil, fmt.Errorf("interp: %s at %#x: not inside one allocation: %s", count(uint64(n), "byte"), addr, m.nearest(addr))
	}
	return a.bytes()[addr-a.base:][:n:n], nil
}

// Base is the start and size of the allocation that holds addr.
func (m *Memory) Base(addr uint64) (base uint64, size int64, ok bool) {
	if a := m.find(addr, 0); a != nil {
		return a.base, int64(a.size), true
	}
	return 0, 0, false
}

// Name is what errors call the allocation that starts at base.
func (m *Memory) Name(base uint64) string {
	if a := m.find(base, 0); a != nil {
		return a.name
	}
	return "memory"
}

// Rename changes the name of the allocation that starts at base.
func (m *Memory) Rename(base uint64, name string) {
	if a := m.find(base, 0); a != nil && a.base == base {
		a.name = name
	}
}

func (a *allocation) bytes() []byte { return unsafe.Slice((*byte)(a.data), a.size) }

// holds reports whether n bytes at addr lie inside a.
func (a *allocation) holds(addr, n uint64) bool {
	off := addr - a.base
	return addr >= a.base && off <= a.size && n <= a.size-off
}

// search is the index of the last allocation that starts at or before addr, or -1.
func (m *Memory) search(addr uint64) int {
	return sort.Search(len(m.allocs), func(i int) bool { return m.allocs[i].base > addr }) - 1
}

// find is the allocation that holds n bytes at addr, or nil.
func (m *Memory) find(addr, n uint64) *allocation {
	if i := m.search(addr); i >= 0 && m.allocs[i].holds(addr, n) {
		return m.allocs[i]
	}
	return nil
}

// nearest says where addr lies relative to the nearest allocation.
func (m *Memory) nearest(addr uint64) string {
	if addr < 4096 {
		return "the pointer is null"
	}
	if s := m.nearestFreed(addr); s != "" {
		return s
	}
	i := m.search(addr)
	below, above := (*allocation)(nil), (*allocation)(nil)
	if i >= 0 {
		below = m.allocs[i]
	}
	if i+1 < len(m.allocs) {
		above = m.allocs[i+1]
	}
	switch {
	case below == nil && above == nil:
		return "nothing is allocated"
	case below == nil || above != nil && above.base-addr < addr-(below.base+below.size):
		return fmt.Sprintf("%d bytes before %s (%d bytes at %#x)", above.base-addr, above.name, above.size, above.base)
	}
	return fmt.Sprintf("%s of %s (%d bytes at %#x)", fromEnd(addr-below.base, below.size), below.name, below.size, below.base)
}

// fromEnd says where an offset lies relative to the end of size bytes.
func fromEnd(off, size uint64) string {
	switch {
	case off == size:
		return "at the end"
	case off > size:
		return fmt.Sprintf("%d bytes past the end", off-size)
	}
	return fmt.Sprintf("%d bytes before the end", size-off)
}

// count is n things, in the right number.
func count(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// nearestFreed recognises a pointer into a freed block; at most one can hold it.
func (m *Memory) nearestFreed(addr uint64) string {
	for _, a := range m.freed {
		if a.size > 0 && a.holds(addr, 1) {
			return fmt.Sprintf("%d bytes into %s, which was freed (%d bytes at %#x)", addr-a.base, a.name, a.size, a.base)
		}
	}
	return ""
}
