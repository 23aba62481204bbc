package interp

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"unsafe"
)

// Addresses and alignments; lowering.cvta has a map of all addresses.
const (
	// firstAddress is above 4 GiB, so an address truncated to 32 bits is never valid.
	firstAddress = 0x2_0000_0000
	// near is the maximum distance from device memory at which an address is still taken
	// for one of device memory, in bytes.
	near = 1 << 30
	// FirstHostAddress is the start of HostAlloc's addresses and the end of device memory.
	FirstHostAddress uint64 = 0x5000_0000_0000
	// hostAlign is the unit of the distance between blocks of HostAlloc: a page.
	hostAlign = 4096
)

// Space is the address space of a process. Its devices, and the host memory that they
// can access, have distinct addresses. An address therefore identifies the owner of its
// memory, which CUDA calls unified addressing.
type Space struct {
	next, nextHost uint64
	holes          holes // free addresses below next, of freed reservations or skipped by alignment
	host           allocations
	memories       []*Memory
	reservations   []*reservation // by address
	runs           map[*Bank]*accessible
	physical       physicalFile
	aliases        int // mappings of memory that is also mapped elsewhere
	bound          int // number of handles of textures and surfaces
	shared         int // number of allocations that other processes may write to
	separate       bool
	region         int  // of a separate space
	counted        bool // it is counted as a user of the region
}

// NewSpace returns a space without allocations.
func NewSpace() *Space {
	return &Space{next: firstAddress, nextHost: FirstHostAddress, runs: map[*Bank]*accessible{}}
}

// NewSeparateSpace returns a space without allocations, whose addresses differ from
// those of all other separate spaces in use.
func NewSeparateSpace() *Space {
	s := NewSpace()
	s.separate = true
	return s
}

// Bank is the memory of a GPU, which may serve several address spaces.
type Bank struct{ limit, used int64 }

// NewBank returns a bank of limit bytes.
func NewBank(limit int64) *Bank { return &Bank{limit: limit} }

// Free returns the number of bytes that are not allocated.
func (b *Bank) Free() int64 { return b.limit - b.used }

// Size returns the size of the bank in bytes.
func (b *Bank) Size() int64 { return b.limit }

// Reserve takes n bytes from the bank, or returns them if n is negative. It returns
// false if there are not enough.
func (b *Bank) Reserve(n int64) bool {
	if n > b.Free() {
		return false
	}
	b.used += n
	return true
}

// Open returns an empty memory for a device of the space.
func (s *Space) Open(b *Bank) *Memory {
	s.enterRegion()
	m := &Memory{space: s, bank: b, runs: s.runsOf(b), maxHeap: heapLimit}
	s.memories = append(s.memories, m)
	return m
}

// Memories returns the memories of the space's devices, in the order of Open.
func (s *Space) Memories() []*Memory { return slices.Clone(s.memories) }

// Owns reports whether only the device's own work changes the memory at addr: the host,
// other devices and other processes cannot.
func (m *Memory) Owns(addr uint64) bool {
	a := m.allocs.find(addr, 0)
	return a != nil && !a.shared
}

// Reaches reports whether kernels may access the memory at addr.
func (m *Memory) Reaches(addr uint64) bool { return m.find(addr, 0) != nil }

// Owner returns the memory that an address was allocated from, or nil for the host's.
func (s *Space) Owner(addr uint64) *Memory {
	if a := s.lookup(addr, 0); a != nil {
		return a.owner
	}
	return nil
}

// Holds reports whether addr is in or near device memory that is or was allocated. An
// index out of bounds typically leads there.
func (s *Space) Holds(addr uint64) bool { return addr >= s.first()-near && addr < s.next+near }

// Lent reports whether addr is in host memory that the space contains.
func (s *Space) Lent(addr uint64) bool { return s.host.find(addr, 0) != nil }

// Range returns the start and size of the allocation, or of the mapping, that contains
// addr.
func (s *Space) Range(addr uint64) (base uint64, size int64, ok bool) {
	if a := s.lookup(addr, 1); a != nil {
		return a.base, int64(a.size), true
	}
	if v := s.mappedAt(addr); v != nil {
		return v.base, int64(v.of.size), true
	}
	return 0, 0, false
}

// HostSees reports whether the host, or another process, can read memory that kernels
// and copies may store to.
func (s *Space) HostSees() bool { return len(s.host) > 0 || s.shared > 0 }

// HostAlloc returns n zeroed bytes of the host, at an address in the space that depends
// only on the sequence of calls. Copies can access them, kernels cannot.
func (s *Space) HostAlloc(n int64, name string) (addr uint64, b []byte, err error) {
	a, err := s.hostAlloc(n, name)
	if err != nil {
		return 0, nil, err
	}
	return a.base, a.bytes(), nil
}

// hostAlloc allocates memory that exists until it is withdrawn, even after the space:
// callers may keep its bytes.
func (s *Space) hostAlloc(n int64, name string) (*allocation, error) {
	a := &allocation{base: s.nextHost, size: uint64(n), name: name}
	if err := a.back(); err != nil {
		return nil, fmt.Errorf("interp: %w: %d bytes for %s: the host has no such memory: %w", ErrOutOfMemory, n, name, err)
	}
	a.keepPages()
	s.nextHost = AfterHost(s.nextHost, n)
	s.host.insert(a)
	return a, nil
}

// AfterHost returns the next address of HostAlloc after n bytes at an address. A page
// lies between them.
func AfterHost(addr uint64, n int64) uint64 { return addr + (uint64(n)/hostAlign+2)*hostAlign }

// Lend adds host memory to the space, at its own address. Kernels and copies of all
// devices can access it until Withdraw. It must stay in place, and must not be in the
// Go heap.
func (s *Space) Lend(b []byte, name string) (addr uint64, err error) {
	a, err := s.lend(b, name)
	if err != nil {
		return 0, err
	}
	return a.base, nil
}

// lend adds host memory to the space at its own address.
func (s *Space) lend(b []byte, name string) (*allocation, error) {
	a := &allocation{size: uint64(len(b)), name: name, data: unsafe.Pointer(unsafe.SliceData(b)), mapped: true}
	a.base = uint64(uintptr(a.data))
	if s.Overlaps(a.base, a.size) {
		return nil, fmt.Errorf("interp: %d bytes of host memory at %#x: some of them are known already", a.size, a.base)
	}
	s.host.insert(a)
	return a, nil
}

// Overlaps reports whether any of n bytes at addr are in host memory that the space
// contains.
func (s *Space) Overlaps(addr, n uint64) bool {
	i := s.host.search(addr + n - 1)
	return n > 0 && i >= 0 && s.host[i].base+s.host[i].size > addr
}

// Withdraw undoes HostAlloc or Lend for the memory that starts at addr.
func (s *Space) Withdraw(addr uint64) (size int64, err error) {
	i := s.host.search(addr)
	if i < 0 || s.host[i].base != addr {
		return 0, fmt.Errorf("interp: no memory of the host starts at %#x, or it was freed before", addr)
	}
	size = int64(s.host[i].size)
	s.host[i].unmap()
	s.host.remove(i)
	return size, nil
}

// Befriend gives kernels of m access to the memory of a peer.
func (m *Memory) Befriend(peer *Memory) { m.peers = append(m.peers, peer) }

// Befriended reports whether Befriend was called with a peer.
func (m *Memory) Befriended(peer *Memory) bool { return slices.Contains(m.peers, peer) }

// Unfriend undoes Befriend.
func (m *Memory) Unfriend(peer *Memory) {
	for i, p := range m.peers {
		if p == peer {
			m.peers = append(m.peers[:i], m.peers[i+1:]...)
			return
		}
	}
}

// elsewhere returns the allocation that kernels of m can access and that is not m's
// own.
func (m *Memory) elsewhere(addr, n uint64) *allocation {
	if a := m.space.host.find(addr, n); a != nil && a.mapped {
		return a
	}
	for _, p := range m.peers {
		if a := p.allocs.find(addr, n); a != nil {
			return a
		}
	}
	return nil
}

// lookup returns the allocation of the space that contains n bytes at addr, or nil.
func (m *Memory) lookup(addr, n uint64) *allocation {
	if a := m.allocs.find(addr, n); a != nil {
		return a
	}
	if a := m.runs.readable.find(addr, n); a != nil {
		return a
	}
	return m.space.lookup(addr, n)
}

// lookup returns the allocation of the host or of a device that contains n bytes at addr,
// or nil.
func (s *Space) lookup(addr, n uint64) *allocation {
	if a := s.host.find(addr, n); a != nil {
		return a
	}
	for _, p := range s.memories {
		if a := p.allocs.find(addr, n); a != nil {
			return a
		}
	}
	return nil
}

// foreign describes the memory at addr that a kernel must not access, or returns "" if
// there is none.
func (m *Memory) foreign(addr uint64) string {
	a := m.lookup(addr, 1)
	switch {
	case a == nil || a.owner == m:
		return ""
	case a.owner == nil:
		return fmt.Sprintf("%d bytes into %s, memory of the host that kernels cannot reach", addr-a.base, a.name)
	}
	return fmt.Sprintf("%d bytes into %s (%d bytes at %#x) of another context, whose memory kernels reach only with peer access", addr-a.base, a.name, a.size, a.base)
}

// Close frees all allocations.
func (m *Memory) Close() {
	for _, a := range m.allocs {
		m.release(a)
	}
	m.allocs, m.peers = nil, nil
	s := m.space
	for i, o := range s.memories {
		if o == m {
			s.memories = append(s.memories[:i], s.memories[i+1:]...)
			break
		}
	}
	s.leaveRegion()
	for _, o := range s.memories {
		o.Unfriend(m)
	}
	for _, a := range s.host {
		a.moveFrom(m)
	}
}

// errAddresses is the cause if device memory has no free addresses of the required size.
var errAddresses = errors.New("no addresses are left")

// take allocates n addresses for device memory, aligned to a power of two. It prefers
// addresses that were never used.
func (s *Space) take(n, align uint64) (uint64, error) {
	if base, ok := s.takeNew(n, align); ok {
		return base, nil
	}
	return s.takeReused(n, align)
}

// takeNew allocates addresses that were never used.
func (s *Space) takeNew(n, align uint64) (base uint64, ok bool) {
	const end = FirstHostAddress - guardGap - allocAlign
	base = alignUp(s.next, align)
	if base < s.next || base > end || n > end-base {
		return 0, false
	}
	s.holes.add(min(alignUp(s.next, Granularity), base), base)
	s.next = base + guarded(n)
	return base, true
}

// takeReused allocates addresses of holes: of one hole, or of the last hole and the
// addresses after it.
func (s *Space) takeReused(n, align uint64) (base uint64, err error) {
	base, ok := s.holes.take(guarded(n), align)
	if last := len(s.holes) - 1; !ok && last >= 0 && s.holes[last].Hi == s.next {
		s.next, s.holes = s.holes[last].Lo, s.holes[:last]
		base, ok = s.takeNew(n, align)
	}
	if !ok {
		return 0, fmt.Errorf("%w: %w", ErrOutOfMemory, errAddresses)
	}
	return base, nil
}

// releaseAddresses frees n addresses of take or takeReused.
func (s *Space) releaseAddresses(base, n uint64) { s.holes.add(base, base+guarded(n)) }

// guarded returns the number of addresses of n bytes with the gap after them.
func guarded(n uint64) uint64 { return alignUp(n+guardGap, allocAlign) }

// allocations are sorted by address.
type allocations []*allocation

// search returns the index of the last allocation that starts at or before addr, or -1.
func (l allocations) search(addr uint64) int {
	return sort.Search(len(l), func(i int) bool { return l[i].base > addr }) - 1
}

// find returns the allocation that contains n bytes at addr, or nil.
func (l allocations) find(addr, n uint64) *allocation {
	if i := l.search(addr); i >= 0 && l[i].holds(addr, n) {
		return l[i]
	}
	return nil
}

// touching returns the range of allocations that overlap or adjoin the addresses [lo,
// hi).
func (l allocations) touching(lo, hi uint64) (first, last int) {
	first = max(l.search(lo), 0)
	if first < len(l) && l[first].end() < lo {
		first++
	}
	return first, max(first, l.search(hi)+1)
}

// insert adds an allocation in order.
func (l *allocations) insert(a *allocation) {
	i := l.search(a.base) + 1
	*l = append(*l, nil)
	copy((*l)[i+1:], (*l)[i:])
	(*l)[i] = a
}

// remove removes the i-th allocation.
func (l *allocations) remove(i int) {
	copy((*l)[i:], (*l)[i+1:])
	(*l)[len(*l)-1] = nil
	*l = (*l)[:len(*l)-1]
}

// around returns the allocations before and after addr.
func (l allocations) around(addr uint64) (below, above *allocation) {
	i := l.search(addr)
	if i >= 0 {
		below = l[i]
	}
	if i+1 < len(l) {
		above = l[i+1]
	}
	return below, above
}
