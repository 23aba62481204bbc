package interp

import (
	"errors"
	"fmt"
	"unsafe"
)

// Alignment and the windows of the generic address space; lowering.cvta has a map of all
// addresses.
const (
	// allocAlign is the alignment that cudaMalloc guarantees.
	allocAlign = 256
	// guardGap separates allocations, so that an access past the end of one is
	// detected and not mistaken for an access to the next.
	guardGap = 256
	// maxFreed is the number of freed blocks whose names are kept.
	maxFreed = 4096

	// Windows of the generic address space. Each block has its own shared
	// memory, and each thread its own local memory, at the same addresses.
	sharedWindow = 0x7000_0000_0000
	localWindow  = 0x7100_0000_0000
	paramWindow  = 0x7300_0000_0000 // parameters of kernels
	codeWindow   = 0x7200_0000_0000 // addresses of functions
	windowSize   = 1 << 32
)

// ErrOutOfMemory is returned by Alloc if the limit would be exceeded.
var ErrOutOfMemory = errors.New("out of device memory")

// Memory is the memory that one device can access: its own allocations, and those of the
// space that it shares with others. It must not be changed while a kernel runs on it.
//
//	Space ─┬─ Memory of device 0 ─ allocations
//	       ├─ Memory of device 1 ─ allocations
//	       ├─ allocations of the host
//	       └─ reservations ─ mappings ─ Physical
type Memory struct {
	space     *Space
	bank      *Bank
	workspace *allocation // of cooperative launches, nil before the first
	used      int64
	heapUsed  int64 // by malloc on the device
	maxHeap   int64 // the limit of heapUsed
	allocs    allocations
	runs      *accessible    // the mapped memory that its GPU may access
	reserved  allocations    // reserved addresses, see Reserve
	peers     []*Memory      // devices whose memory kernels may access
	track     bool           // record which bytes are written
	freed     []*allocation  // the latest maxFreed freed blocks, for the messages of faults and Free
	images    map[uint64]any // *Texture or *Image, by handle
}

// allocation is one block of memory. words backs data, so that every aligned device
// address is an aligned host address. Mapped memory and that of the host have other
// backing.
type allocation struct {
	base      uint64
	size      uint64
	name      string
	words     []uint64
	pages     mapping // instead of words
	data      unsafe.Pointer
	owner     *Memory      // nil for the host's
	mapped    bool         // host memory that kernels reach
	managed   bool         // managed memory: its pages migrate to the processor that touches them
	homes     []*Memory    // managed memory: the location of each page, nil for the host; nil if all pages are there
	saved     []bool       // pages that the current launch has copied
	heap      bool         // from malloc on the device
	condition bool         // the word of a graph's condition
	reserved  bool         // its addresses stay reserved when it is freed
	shared    bool         // with other processes, which may write to it at any time
	imported  bool         // from another process, whose GPU it counts against
	within    *reservation // mapped memory: its reservation
	valid     *validity    // nil if every byte has been written, or if this is not recorded
}

// NewMemory returns an empty memory of at most limit bytes, in a space of its own.
func NewMemory(limit int64) *Memory { return NewSpace().Open(NewBank(limit)) }

// Used returns the number of bytes allocated.
func (m *Memory) Used() int64 { return m.used }

// Alloc allocates n zeroed bytes at a 256-byte aligned address. name is the block's
// name in errors. Addresses depend only on the sequence of calls, and those of a block
// are never reused, so a dangling pointer cannot reach a later block.
func (m *Memory) Alloc(n int64, name string) (uint64, error) {
	a, err := m.alloc(n, name)
	if err != nil {
		return 0, err
	}
	if m.track {
		a.markUninitialised()
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
		m.space.releaseAddresses(base, a.size)
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
		return fmt.Errorf("interp: free of %#x: %s was allocated by a kernel with malloc, and only a kernel can free it", addr, a.name)
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

// release frees the resources of an allocation.
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

// remember keeps the name of a freed block.
func (m *Memory) remember(a *allocation) {
	if len(m.freed) == maxFreed {
		m.freed = append(m.freed[:0], m.freed[maxFreed/2:]...)
	}
	m.freed = append(m.freed, a)
}

// describeFree explains why no allocation can be freed at addr. i is the index of the last
// allocation that starts at or before addr, or -1.
func (m *Memory) describeFree(addr uint64, i int) string {
	for _, a := range m.freed {
		if a.base == addr {
			return fmt.Sprintf("%s (%d bytes) was freed before", a.name, a.size)
		}
	}
	if i >= 0 && addr < m.allocs[i].base+m.allocs[i].size {
		a := m.allocs[i]
		return fmt.Sprintf("it points %d bytes into %s: free its start %#x", addr-a.base, a.name, a.base)
	}
	return "no allocation starts there"
}

// Bytes returns the memory at addr, without a copy. The span must be inside one
// allocation; an empty span may also end one.
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

// Base returns the start and size of the allocation that contains addr.
func (m *Memory) Base(addr uint64) (base uint64, size int64, ok bool) {
	if a := m.lookup(addr, 0); a != nil {
		return a.base, int64(a.size), true
	}
	return 0, 0, false
}

// Name returns the name in errors of the allocation that starts at base.
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

// bytes returns the memory of the allocation, without a copy.
func (a *allocation) bytes() []byte { return unsafe.Slice((*byte)(a.data), a.size) }

// end returns the address behind the allocation.
func (a *allocation) end() uint64 { return a.base + a.size }

// holds reports whether n bytes at addr are inside a.
func (a *allocation) holds(addr, n uint64) bool {
	off := addr - a.base
	return addr >= a.base && off <= a.size && n <= a.size-off
}

// find returns the allocation that kernels can access and that contains n bytes at addr, or
// nil: of the device, then of mapped memory, then of the host and of peers. Each is a
// binary search.
func (m *Memory) find(addr, n uint64) *allocation {
	if a := m.allocs.find(addr, n); a != nil {
		return a
	}
	if a := m.runs.readable.find(addr, n); a != nil {
		return a
	}
	return m.elsewhere(addr, n)
}

// nearest describes the position of addr relative to the nearest allocation. The most
// specific explanation comes first: null, freed, not mapped, not committed, foreign.
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

// around returns the nearest allocations before and after addr, of the device or of the
// host.
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

// fromEnd describes the position of an offset relative to the end of size bytes.
func fromEnd(off, size uint64) string {
	switch {
	case off == size:
		return "at the end"
	case off > size:
		return fmt.Sprintf("%d bytes past the end", off-size)
	}
	return fmt.Sprintf("%d bytes before the end", size-off)
}

// count formats a number with a noun in singular or plural.
func count(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// nearestFreed describes a pointer into a freed block. At most one block contains it.
func (m *Memory) nearestFreed(addr uint64) string {
	for _, a := range m.freed {
		if a.size > 0 && a.holds(addr, 1) {
			return fmt.Sprintf("%d bytes into %s, which was freed (%d bytes at %#x)", addr-a.base, a.name, a.size, a.base)
		}
	}
	return ""
}
