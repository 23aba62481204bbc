package interp

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"unsafe"
)

const (
	// firstAddress lies above 4 GiB: an address cut to 32 bits hits nothing.
	firstAddress = 0x2_0000_0000
	// near is how far from device memory an address still counts as one of it.
	near = 1 << 30
	// FirstHostAddress is where HostAlloc begins, and where device memory ends.
	FirstHostAddress uint64 = 0x5000_0000_0000
	// hostAlign is the distance unit between blocks of HostAlloc: a page.
	hostAlign = 4096
)

// Space is the addresses of a process. Its devices, and the host memory that they
// can reach, never share one, so that an address says whose it is: CUDA calls it
// unified addressing.
type Space struct {
	next, nextHost uint64
	holes          holes // below next: freed reservations, and what alignment left out
	host           allocations
	memories       []*Memory
	reservations   []*reservation // by address
	runs           map[*Bank]*accessible
	chips          chips
	aliases        int // mappings of memory that is mapped elsewhere, too
	bound          int // handles of textures and surfaces given out
	shared         int // allocations that other processes may write to
	separate       bool
	region         int  // of a separate space
	counted        bool // whether it is a user of the region
}

// NewSpace returns a space in which nothing is allocated.
func NewSpace() *Space {
	return &Space{next: firstAddress, nextHost: FirstHostAddress, runs: map[*Bank]*accessible{}}
}

// NewSeparateSpace returns a space in which nothing is allocated, and whose addresses no other separate space in use has.
func NewSeparateSpace() *Space {
	s := NewSpace()
	s.separate = true
	return s
}

// Bank is the memory chips of a GPU, which may serve several address spaces.
type Bank struct{ limit, used int64 }

// NewBank returns a bank of limit bytes.
func NewBank(limit int64) *Bank { return &Bank{limit: limit} }

// Free is the number of bytes that nobody has allocated, and Size that of all.
func (b *Bank) Free() int64 { return b.limit - b.used }

// Size is the number of bytes there are.
func (b *Bank) Size() int64 { return b.limit }

// Reserve takes n bytes out of the bank, or returns them when n is negative; false when
// there are not so many.
func (b *Bank) Reserve(n int64) bool {
	if n > b.Free() {
		return false
	}
	b.used += n
	return true
}

// Open returns an empty memory of a device of the space.
func (s *Space) Open(b *Bank) *Memory {
	s.enterRegion()
	m := &Memory{space: s, bank: b, runs: s.runsOf(b), heapMost: heapLimit}
	s.memories = append(s.memories, m)
	return m
}

// Memories are those of the space's devices, in the order in which they were opened.
func (s *Space) Memories() []*Memory { return slices.Clone(s.memories) }

// Owns reports whether addr lies in memory that only the device's own work changes,
// which neither the host, another device nor another process can write behind its back.
func (m *Memory) Owns(addr uint64) bool {
	a := m.allocs.find(addr, 0)
	return a != nil && !a.shared
}

// Reaches reports whether kernels may access the memory at addr.
func (m *Memory) Reaches(addr uint64) bool { return m.find(addr, 0) != nil }

// Owner is the memory that an address was allocated from, nil for the host's.
func (s *Space) Owner(addr uint64) *Memory {
	if a := s.lookup(addr, 0); a != nil {
		return a.owner
	}
	return nil
}

// Holds reports whether addr is of device memory that was allocated once, or near it: where
// an index that is out of bounds leads.
func (s *Space) Holds(addr uint64) bool { return addr >= s.first()-near && addr < s.next+near }

// Lent reports whether addr lies in memory of the host that the space knows.
func (s *Space) Lent(addr uint64) bool { return s.host.find(addr, 0) != nil }

// Range is the start and size of the allocation, or of the mapping, that holds addr.
func (s *Space) Range(addr uint64) (base uint64, size int64, ok bool) {
	if a := s.lookup(addr, 1); a != nil {
		return a.base, int64(a.size), true
	}
	if v := s.mappedAt(addr); v != nil {
		return v.base, int64(v.of.size), true
	}
	return 0, 0, false
}

// HostSees reports whether the host, or another process, reads memory that kernels and copies may store to.
func (s *Space) HostSees() bool { return len(s.host) > 0 || s.shared > 0 }

// HostAlloc returns n zeroed bytes of the host at an address of the space's own,
// which depends on the sequence of calls alone. Copies reach them, kernels do not.
func (s *Space) HostAlloc(n int64, name string) (addr uint64, b []byte, err error) {
	a, err := s.hostAlloc(n, name)
	if err != nil {
		return 0, nil, err
	}
	return a.base, a.bytes(), nil
}

// hostAlloc makes memory that is gone when it is withdrawn and not before: whoever has
// its bytes may have them after the space.
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

// AfterHost is where HostAlloc goes on after n bytes at an address: a page lies between.
func AfterHost(addr uint64, n int64) uint64 { return addr + (uint64(n)/hostAlign+2)*hostAlign }

// Lend makes host memory known under the address it has. Kernels and copies of all
// devices reach it until Withdraw; it must stay in place, and lie outside the Go heap.
func (s *Space) Lend(b []byte, name string) (addr uint64, err error) {
	a, err := s.lend(b, name)
	if err != nil {
		return 0, err
	}
	return a.base, nil
}

func (s *Space) lend(b []byte, name string) (*allocation, error) {
	a := &allocation{size: uint64(len(b)), name: name, data: unsafe.Pointer(unsafe.SliceData(b)), mapped: true}
	a.base = uint64(uintptr(a.data))
	if s.Overlaps(a.base, a.size) {
		return nil, fmt.Errorf("interp: %d bytes of host memory at %#x: some of them are known already", a.size, a.base)
	}
	s.host.insert(a)
	return a, nil
}

// Overlaps reports whether any of n bytes at addr are memory of the host that the space
// knows.
func (s *Space) Overlaps(addr, n uint64) bool {
	i := s.host.search(addr + n - 1)
	return n > 0 && i >= 0 && s.host[i].base+s.host[i].size > addr
}

// Withdraw ends HostAlloc or Lend of the memory that starts at addr.
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

// Befriend lets kernels of m reach the memory of a peer.
func (m *Memory) Befriend(peer *Memory) { m.peers = append(m.peers, peer) }

// Unfriend takes that back.
func (m *Memory) Unfriend(peer *Memory) {
	for i, p := range m.peers {
		if p == peer {
			m.peers = append(m.peers[:i], m.peers[i+1:]...)
			return
		}
	}
}

// elsewhere is what kernels of m reach that is not its own.
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

// lookup is the allocation of the space that holds n bytes at addr, or nil.
func (m *Memory) lookup(addr, n uint64) *allocation {
	if a := m.allocs.find(addr, n); a != nil {
		return a
	}
	if a := m.runs.readable.find(addr, n); a != nil {
		return a
	}
	return m.space.lookup(addr, n)
}

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

// foreign says what a kernel must not access at addr, "" when nothing is there.
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

// Close frees all.
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

var errAddresses = errors.New("no addresses are left")

// take takes n addresses for device memory, at a multiple of align, a power of two: addresses that were
// never taken, as long as there are such.
func (s *Space) take(n, align uint64) (uint64, error) {
	if base, ok := s.takeNew(n, align); ok {
		return base, nil
	}
	return s.takeAgain(n, align)
}

// takeNew takes addresses that were never taken.
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

// takeAgain takes addresses of holes: of one, or of the last and of what follows it.
func (s *Space) takeAgain(n, align uint64) (base uint64, err error) {
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

// giveBack frees n addresses that take or takeHole took.
func (s *Space) giveBack(base, n uint64) { s.holes.add(base, base+guarded(n)) }

// guarded is how many addresses n bytes take up with the gap behind them.
func guarded(n uint64) uint64 { return alignUp(n+guardGap, allocAlign) }

// allocations are sorted by address.
type allocations []*allocation

// search is the index of the last allocation that starts at or before addr, or -1.
func (l allocations) search(addr uint64) int {
	return sort.Search(len(l), func(i int) bool { return l[i].base > addr }) - 1
}

// find is the allocation that holds n bytes at addr, or nil.
func (l allocations) find(addr, n uint64) *allocation {
	if i := l.search(addr); i >= 0 && l[i].holds(addr, n) {
		return l[i]
	}
	return nil
}

// touching is the range of those that reach into the addresses from lo to hi, or touch them.
func (l allocations) touching(lo, hi uint64) (first, last int) {
	first = max(l.search(lo), 0)
	if first < len(l) && l[first].end() < lo {
		first++
	}
	return first, max(first, l.search(hi)+1)
}

func (l *allocations) insert(a *allocation) {
	i := l.search(a.base) + 1
	*l = append(*l, nil)
	copy((*l)[i+1:], (*l)[i:])
	(*l)[i] = a
}

func (l *allocations) remove(i int) {
	copy((*l)[i:], (*l)[i+1:])
	(*l)[len(*l)-1] = nil
	*l = (*l)[:len(*l)-1]
}

// around is the allocations before and after addr.
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
