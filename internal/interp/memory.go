package interp

import (
	"errors"
	"fmt"
	"unsafe"
)

const (
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

// Memory is what one device reaches: its own allocations, and those of the space
// that others share with it. It must not be changed while a kernel runs on it.
type Memory struct {
	space     *Space
	bank      *Bank
	workspace *allocation // of cooperative launches, nil before the first
	used      int64
	heapUsed  int64 // by malloc on the device
	heapMost  int64 // what that may become
	allocs    allocations
	runs      *accessible    // what its GPU may access of mapped memory
	reserved  allocations    // addresses of what comes and goes, see Reserve
	peers     []*Memory      // whose memory kernels may access
	track     bool           // note what is written
	freed     []*allocation  // the latest maxFreed that are gone, for what faults and Free say
	images    map[uint64]any // *Texture or *Image, by handle
}

// allocation is one block of memory. words backs data, so that every aligned
// device address is an aligned host address, unless it is mapped or the host's.
type allocation struct {
	base      uint64
	size      uint64
	name      string
	words     []uint64
	pages     mapping // instead of words
	data      unsafe.Pointer
	owner     *Memory      // nil for the host's
	mapped    bool         // host memory that kernels reach
	managed   bool         // and whose pages move to who touches them
	homes     []*Memory    // of managed memory: where each page is, nil for the host; nil when all are there
	saved     []bool       // pages of which the launch under way has kept a copy
	heap      bool         // from malloc on the device
	condition bool         // the word of a graph's condition
	reserved  bool         // its addresses stay taken when it is freed
	shared    bool         // with other processes, which may write to it at any time
	imported  bool         // from another process, whose GPU it counts against
	within    *reservation // of a run of mapped memory
	valid     *validity    // nil when every byte has been written, or reads of unwritten bytes are not reported
}

// NewMemory returns an empty memory of at most limit bytes, in a space of its own.
func NewMemory(limit int64) *Memory { return NewSpace().Open(NewBank(limit)) }

// Used is the number of bytes allocated.
func (m *Memory) Used() int64 { return m.used }

// Alloc reserves n zeroed bytes at a 256-byte aligned address; name is what
// errors call the block. Addresses depend only on the sequence of calls, and those
// of a block are never given out twice, so a dangling pointer cannot hit a later block.
func (m *Memory) Alloc(n int64, name string) (uint64, error) {
	a, err := m.alloc(n, name)
	if err != nil {
		return 0, err
	}
	if m.track {
		a.forget()
	}
	return a.base, nil
}

// alloc is Alloc for bytes that count as written.
func (m *Memory) alloc(n int64, name string) (*allocation, error) {
	if n < 0 {
		return nil, fmt.Errorf("interp: allocation of %d bytes for %s: the size is negative", n, name)
	}
	if n > m.bank.Free() {
		return nil, fmt.Errorf("interp: %w: %d bytes for %s, %d of %d in use", ErrOutOfMemory, n, name, m.bank.used, m.bank.limit)
	}
	base, err := m.space.take(uint64(n), allocAlign)
	if err != nil {
		return nil, fmt.Errorf("interp: %d bytes for %s: %w", n, name, err)
	}
	a := &allocation{base: base, size: uint64(n), name: name, owner: m}
	if err := a.back(); err != nil {
		m.space.giveBack(base, a.size)
		return nil, fmt.Errorf("interp: %w: %d bytes for %s: the host has no such memory: %w", ErrOutOfMemory, n, name, err)
	}
	m.used += n
	m.bank.used += n
	m.allocs.insert(a)
	return a, nil
}

// Free releases the block that starts at addr.
func (m *Memory) Free(addr uint64) error {
	i := m.allocs.search(addr)
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
	m.allocs.remove(i)
	m.release(a)
	if a.reserved {
		return
	}
	m.remember(&allocation{base: a.base, size: a.size, name: a.name})
}

// release gives back what an allocation takes up.
func (m *Memory) release(a *allocation) {
	if a.shared {
		m.space.shared--
	}
	if !a.imported {
		m.used -= int64(a.size)
		m.bank.used -= int64(a.size)
	}
	a.unmap()
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
	a := m.lookup(addr, uint64(n))
	if a == nil {
		return nil, fmt.Errorf("interp: %s at %#x: not inside one allocation: %s", count(uint64(n), "byte"), addr, m.nearest(addr))
	}
	return a.bytes()[addr-a.base:][:n:n], nil
}

// Base is the start and size of the allocation that holds addr.
func (m *Memory) Base(addr uint64) (base uint64, size int64, ok bool) {
	if a := m.lookup(addr, 0); a != nil {
		return a.base, int64(a.size), true
	}
	return 0, 0, false
}

// Name is what errors call the allocation that starts at base.
func (m *Memory) Name(base uint64) string {
	if base >= physicalBase {
		return "mapped memory"
	}
	if a := m.lookup(base, 0); a != nil {
		return a.name
	}
	return "memory"
}

// Rename changes the name of the allocation that starts at base.
func (m *Memory) Rename(base uint64, name string) {
	if a := m.lookup(base, 0); a != nil && a.base == base {
		a.name = name
	}
}

func (a *allocation) bytes() []byte { return unsafe.Slice((*byte)(a.data), a.size) }

func (a *allocation) end() uint64 { return a.base + a.size }

// holds reports whether n bytes at addr lie inside a.
func (a *allocation) holds(addr, n uint64) bool {
	off := addr - a.base
	return addr >= a.base && off <= a.size && n <= a.size-off
}

// find is the allocation that kernels reach and that holds n bytes at addr, or nil.
func (m *Memory) find(addr, n uint64) *allocation {
	if a := m.allocs.find(addr, n); a != nil {
		return a
	}
	if a := m.runs.readable.find(addr, n); a != nil {
		return a
	}
	return m.elsewhere(addr, n)
}

// nearest says where addr lies relative to the nearest allocation.
func (m *Memory) nearest(addr uint64) string {
	if addr < 4096 {
		return "the pointer is null"
	}
	if s := m.nearestFreed(addr); s != "" {
		return s
	}
	if s := m.nearestMapped(addr); s != "" {
		return s
	}
	if s := m.nearestReserved(addr); s != "" {
		return s
	}
	if s := m.foreign(addr); s != "" {
		return s
	}
	below, above := m.around(addr)
	switch {
	case below == nil && above == nil:
		return "nothing is allocated"
	case below == nil || above != nil && above.base-addr < addr-(below.base+below.size):
		return fmt.Sprintf("%d bytes before %s (%d bytes at %#x)", above.base-addr, above.name, above.size, above.base)
	}
	return fmt.Sprintf("%s of %s (%d bytes at %#x)", fromEnd(addr-below.base, below.size), below.name, below.size, below.base)
}

// around is the allocations before and after addr: the nearer of the device's own and
// of the host's.
func (m *Memory) around(addr uint64) (below, above *allocation) {
	below, above = m.allocs.around(addr)
	low, high := m.space.host.around(addr)
	if low != nil && (below == nil || low.base > below.base) {
		below = low
	}
	if high != nil && (above == nil || high.base < above.base) {
		above = high
	}
	return below, above
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
