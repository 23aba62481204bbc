package interp

import (
	"fmt"
	"slices"
	"sort"
	"unsafe"
)

// Physical memory without an address, reservations of addresses without memory, and the
// mappings between them. All physical memory is in one unnamed file, and each reservation
// is one range of host addresses, into which the operating system maps parts of the file:
//
//	reservation   │░░░░│ P1 │ P0 │ P1 │░░░░│    host addresses; ░ has no memory
//	                     │    │    │
//	file          │ P0 │ P1 │ P2 │              P1 is mapped twice
//
// A kernel or a copy can therefore cross from one mapping to the next, and memory that is
// mapped twice is the same memory, without special treatment elsewhere.
//
// A run is a maximal stretch of adjacent mappings of a reservation to which a GPU has
// access. For kernels and copies, a run is an ordinary allocation.

// Granularity is the unit of the sizes of physical memory and of the addresses of
// mappings, in bytes. It is that of NVIDIA's GPUs.
const Granularity = 2 << 20

// Access is the access of a GPU to a mapping.
type Access uint8

// The accesses are ordered: each includes those before it.
const (
	NoAccess Access = iota
	ReadOnly
	ReadWrite
)

// Physical is memory of a GPU without an address.
type Physical struct {
	OnGone func() // called when the memory has been freed; may be nil

	space   *Space
	bank    *Bank
	offset  uint64 // in the file; never reused
	size    uint64
	held    bool // not yet released by its creator
	mapping []*mapped
}

// mapped is physical memory at an address.
type mapped struct {
	base   uint64
	of     *Physical // mapped as a whole
	access map[*Bank]Access
}

// end returns the address behind the mapping.
func (v *mapped) end() uint64 { return v.base + v.of.size }

// reservation is a range of addresses.
type reservation struct {
	base, size uint64
	host       hostRange
	mapped     []*mapped // by address
}

// accessible is the part of all reservations that a GPU may access. A run that is
// writable as a whole is the same object in both lists.
type accessible struct {
	bank               *Bank
	readable, writable allocations
	readOnly           int // number of read-only mappings; if 0, the lists are the same
}

// physicalBase is the start of the addresses of physical memory that the race detector
// uses, far from all others.
const physicalBase = 1 << 63

// address returns the position of the memory in all physical memory.
func (p *Physical) address() uint64 { return physicalBase + p.offset }

// Bytes returns the size in bytes.
func (p *Physical) Bytes() int64 { return int64(p.size) }

// CreatePhysical allocates n zeroed bytes from a bank. They are freed when they are
// released and no longer mapped.
func (s *Space) CreatePhysical(b *Bank, n int64) (*Physical, error) {
	if n <= 0 || n%Granularity != 0 {
		return nil, fmt.Errorf("interp: physical memory of %d bytes: the size is not a positive multiple of %d", n, Granularity)
	}
	if !b.Reserve(n) {
		return nil, fmt.Errorf("interp: %w: %d bytes of physical memory, %d of %d in use", ErrOutOfMemory, n, b.used, b.limit)
	}
	offset, err := s.physical.extend(uint64(n))
	if err != nil {
		b.Reserve(-n)
		return nil, fmt.Errorf("interp: %w: %d bytes of physical memory: the host has no such memory: %w", ErrOutOfMemory, n, err)
	}
	return &Physical{space: s, bank: b, offset: offset, size: uint64(n), held: true}, nil
}

// Hold undoes Release while the memory is mapped.
func (p *Physical) Hold() { p.held = true }

// Release frees the memory as soon as it is not mapped.
func (p *Physical) Release() {
	p.held = false
	p.settle()
}

// Gone reports whether the memory has been freed.
func (p *Physical) Gone() bool { return !p.held && len(p.mapping) == 0 }

// settle frees the memory if it is released and not mapped.
func (p *Physical) settle() {
	if p.Gone() {
		p.bank.Reserve(-int64(p.size))
		p.space.physical.discard(p.offset, p.size)
		if p.OnGone != nil {
			p.OnGone()
		}
	}
}

// ReserveRange reserves n bytes of addresses, aligned to align, a power of two, and at
// least to Granularity. An access to them is a fault until memory is mapped there.
// Addresses of freed reservations are reused first.
func (s *Space) ReserveRange(n int64, align uint64) (uint64, error) {
	base, err := s.takeReused(uint64(n), max(align, Granularity))
	if err != nil {
		base, err = s.take(uint64(n), max(align, Granularity))
	}
	if err != nil {
		return 0, fmt.Errorf("interp: a reservation of %d bytes of addresses: %w", n, err)
	}
	host, err := reserveHost(uint64(n))
	if err != nil {
		s.releaseAddresses(base, uint64(n))
		return 0, fmt.Errorf("interp: %w: a reservation of %d bytes of addresses: the host has none: %w", ErrOutOfMemory, n, err)
	}
	r := &reservation{base: base, size: uint64(n), host: host}
	r.host.freeWith(r)
	i := sort.Search(len(s.reservations), func(i int) bool { return s.reservations[i].base > base })
	s.reservations = slices.Insert(s.reservations, i, r)
	return base, nil
}

// FreeRange frees a reservation without mappings.
func (s *Space) FreeRange(addr uint64, n int64) error {
	r := s.reserved(addr)
	switch {
	case r == nil || r.base != addr || r.size != uint64(n):
		return fmt.Errorf("interp: no reservation of %d bytes starts at %#x", n, addr)
	case len(r.mapped) > 0:
		return fmt.Errorf("interp: memory is mapped at %#x in the reservation at %#x: unmap it first", r.mapped[0].base, addr)
	}
	r.host.free()
	s.reservations = slices.DeleteFunc(s.reservations, func(o *reservation) bool { return o == r })
	s.releaseAddresses(r.base, r.size)
	return nil
}

// Reservation returns the start and size of the reservation that contains an address.
func (s *Space) Reservation(addr uint64) (base uint64, size int64, ok bool) {
	if r := s.reserved(addr); r != nil {
		return r.base, int64(r.size), true
	}
	return 0, 0, false
}

// reserved returns the reservation that contains an address, or nil.
func (s *Space) reserved(addr uint64) *reservation {
	i := sort.Search(len(s.reservations), func(i int) bool { return s.reservations[i].base > addr }) - 1
	if i >= 0 && addr-s.reservations[i].base < s.reservations[i].size {
		return s.reservations[i]
	}
	return nil
}

// Map maps all of p at an unmapped address of a reservation. No GPU has access yet.
func (s *Space) Map(addr uint64, p *Physical) error {
	r := s.reserved(addr)
	switch {
	case r == nil:
		return fmt.Errorf("interp: mapping at %#x: the address is not reserved", addr)
	case addr%Granularity != 0:
		return fmt.Errorf("interp: mapping at %#x: the address is not a multiple of %d", addr, Granularity)
	case p.size > r.size-(addr-r.base):
		return fmt.Errorf("interp: mapping of %d bytes at %#x: the reservation ends at %#x", p.size, addr, r.base+r.size)
	}
	i := r.search(addr)
	if i > 0 && r.mapped[i-1].end() > addr || i < len(r.mapped) && r.mapped[i].base < addr+p.size {
		return fmt.Errorf("interp: mapping of %d bytes at %#x: some of the addresses are mapped already", p.size, addr)
	}
	if err := s.physical.mapInto(r.host.at(addr-r.base), p.offset, p.size); err != nil {
		return fmt.Errorf("interp: %w: mapping of %d bytes at %#x: the host cannot map them: %w", ErrOutOfMemory, p.size, addr, err)
	}
	v := &mapped{base: addr, of: p, access: map[*Bank]Access{}}
	r.mapped = slices.Insert(r.mapped, i, v)
	if p.mapping = append(p.mapping, v); len(p.mapping) > 1 {
		s.aliases++
	}
	return nil
}

// search returns the index of the first mapping that starts at or after addr.
func (r *reservation) search(addr uint64) int {
	return sort.Search(len(r.mapped), func(i int) bool { return r.mapped[i].base >= addr })
}

// whole returns the mappings that n bytes at addr consist of, if they are whole
// mappings without gaps.
func (s *Space) whole(addr uint64, n int64) (*reservation, []*mapped, error) {
	r := s.reserved(addr)
	if r == nil || n <= 0 {
		return nil, nil, fmt.Errorf("interp: %d bytes at %#x: no memory is mapped there", n, addr)
	}
	first := r.search(addr)
	end, next := addr+uint64(n), addr
	for i := first; i < len(r.mapped) && r.mapped[i].base == next; i++ {
		next = r.mapped[i].end()
		if next == end {
			return r, r.mapped[first : i+1], nil
		}
	}
	return nil, nil, fmt.Errorf("interp: %d bytes at %#x: these are not whole mappings, one behind the other", n, addr)
}

// Unmap removes the mappings that the range consists of.
func (s *Space) Unmap(addr uint64, n int64) error {
	r, all, err := s.whole(addr, n)
	if err != nil {
		return err
	}
	for _, v := range all {
		s.unmap(r, v)
	}
	first := r.search(addr)
	r.mapped = slices.Delete(r.mapped, first, first+len(all))
	for _, b := range s.runs {
		b.refresh(r, addr, addr+uint64(n))
	}
	return nil
}

// unmap removes a mapping from the host, and leaves it in the list of the reservation.
func (s *Space) unmap(r *reservation, v *mapped) {
	if err := r.host.unmapPart(v.base-r.base, v.of.size); err != nil {
		panic(fmt.Sprintf("BUG: mapped memory cannot be unmapped: %v", err))
	}
	if len(v.of.mapping) > 1 {
		s.aliases--
	}
	for _, b := range s.runs {
		b.allow(v, NoAccess)
	}
	v.of.mapping = slices.DeleteFunc(v.of.mapping, func(o *mapped) bool { return o == v })
	v.of.settle()
}

// Mapped reports whether the range consists of whole mappings.
func (s *Space) Mapped(addr uint64, n int64) error {
	_, _, err := s.whole(addr, n)
	return err
}

// Allow sets the access of a GPU to the mappings that a range consists of.
func (s *Space) Allow(addr uint64, n int64, b *Bank, a Access) error {
	r, all, err := s.whole(addr, n)
	if err != nil {
		return err
	}
	runs := s.runsOf(b)
	for _, v := range all {
		runs.allow(v, a)
	}
	runs.refresh(r, addr, addr+uint64(n))
	return nil
}

// mappedAt returns the mapping that contains an address, or nil.
func (s *Space) mappedAt(addr uint64) *mapped {
	r := s.reserved(addr)
	if r == nil {
		return nil
	}
	if i := r.search(addr+1) - 1; i >= 0 && addr < r.mapped[i].end() {
		return r.mapped[i]
	}
	return nil
}

// MappedAt returns the mapping that contains an address, and the access of a GPU to it.
func (s *Space) MappedAt(addr uint64, b *Bank) (base uint64, of *Physical, a Access, ok bool) {
	v := s.mappedAt(addr)
	if v == nil {
		return 0, nil, NoAccess, false
	}
	return v.base, v.of, v.access[b], true
}

// allow changes the access of the GPU to a mapping. The runs are not updated until
// refresh.
func (b *accessible) allow(v *mapped, a Access) {
	if v.access[b.bank] == ReadOnly {
		b.readOnly--
	}
	if v.access[b.bank] = a; a == ReadOnly {
		b.readOnly++
	}
}

// refresh recomputes the runs that overlap or adjoin the addresses [lo, hi). A change
// of the mappings there affects no other run.
func (b *accessible) refresh(r *reservation, lo, hi uint64) {
	readable := r.refresh(&b.readable, b.bank, ReadOnly, lo, hi)
	writable := r.refresh(&b.writable, b.bank, ReadWrite, lo, hi)
	for i, w := range writable {
		if same := readable.find(w.base, w.size); same != nil && same.size == w.size {
			writable[i] = same
		}
	}
}

// refresh recomputes one list, for an access of at least least. It returns the new part of
// the list. Parts of old runs outside [lo, hi) are kept and joined with the new ones.
func (r *reservation) refresh(list *allocations, b *Bank, least Access, lo, hi uint64) allocations {
	first, last := list.touching(lo, hi)
	old := (*list)[first:last]
	var now stretches
	for _, a := range old { // their parts below lo
		now.add(a.base, max(a.base, min(a.end(), lo)))
	}
	for i := r.search(lo); i < len(r.mapped) && r.mapped[i].base < hi; i++ {
		if v := r.mapped[i]; v.access[b] >= least {
			now.add(v.base, v.end())
		}
	}
	for _, a := range old { // and above hi
		now.add(min(a.end(), max(a.base, hi)), a.end())
	}
	*list = slices.Replace(*list, first, last, now.of(r)...)
	return (*list)[first : first+len(now)]
}

// stretches are ranges of addresses, sorted and not adjacent.
type stretches []Span

// add adds the addresses [lo, hi), which are above all others.
func (l *stretches) add(lo, hi uint64) {
	if n := len(*l); lo == hi {
		return
	} else if n > 0 && (*l)[n-1].Hi == lo {
		(*l)[n-1].Hi = hi
	} else {
		*l = append(*l, Span{lo, hi})
	}
}

// of returns the stretches as allocations in a reservation.
func (l stretches) of(r *reservation) (list allocations) {
	for _, s := range l {
		size := s.Hi - s.Lo
		list = append(list, &allocation{base: s.Lo, size: size, within: r, data: r.host.at(s.Lo - r.base),
			name: fmt.Sprintf("the %d bytes of mapped memory", size)})
	}
	return list
}

// runsOf returns the part of the space's reservations that a GPU may access.
func (s *Space) runsOf(b *Bank) *accessible {
	if s.runs[b] == nil {
		s.runs[b] = &accessible{bank: b}
	}
	return s.runs[b]
}

// aliased reports whether two addresses that kernels can access, or two allocations,
// may be the same memory, or memory of other processes.
func (m *Memory) aliased() bool {
	return m.space.shared > 0 || m.space.aliases > 0 || m.runs.readOnly > 0
}

// findFor returns the allocation to which a kernel has the given kind of access at n
// bytes at addr, or nil.
func (m *Memory) findFor(kind accessKind, addr, n uint64) *allocation {
	a := m.find(addr, n)
	if a != nil && a.within != nil && kind != loads {
		return m.runs.writable.find(addr, n)
	}
	return a
}

// Writable reports whether work of the device may write n bytes at addr that it may
// read.
func (m *Memory) Writable(addr, n uint64) bool {
	a := m.lookup(addr, n)
	return a == nil || a.within == nil || m.runs.writable.find(addr, n) != nil
}

// homeOf returns the location of n bytes of a run, relative to the device.
func (m *Memory) homeOf(r *reservation, addr uint64, n int64) Home {
	for i := r.search(addr+1) - 1; i >= 0 && i < len(r.mapped) && r.mapped[i].base < addr+uint64(max(n, 1)); i++ {
		if r.mapped[i].of.bank != m.bank {
			return There
		}
	}
	return Here
}

// Piece is a part of mapped memory: the addresses [Lo, Hi), and the offset from them to
// positions in physical memory, whose part starts at Base.
type Piece struct{ Lo, Hi, Shift, Base uint64 }

// Pieces returns the pieces of the run that starts at base, or none for other memory.
func (m *Memory) Pieces(base uint64) (list []Piece) {
	a := m.lookup(base, 0)
	if a == nil || a.within == nil {
		return nil
	}
	for i := a.within.search(base); i < len(a.within.mapped) && a.within.mapped[i].base < a.base+a.size; i++ {
		v := a.within.mapped[i]
		list = append(list, Piece{v.base, v.end(), v.of.address() - v.base, v.of.address()})
	}
	return list
}

// Shown returns the address at which a program sees the memory that starts at base. For
// physical memory this is that of a mapping.
func (m *Memory) Shown(base uint64) uint64 {
	if base < physicalBase {
		return base
	}
	for _, r := range m.space.reservations {
		for _, v := range r.mapped {
			if v.of.address() == base {
				return v.base
			}
		}
	}
	return base
}

// nearestMapped explains why an access to a reserved address is a fault, "" for other
// addresses.
func (m *Memory) nearestMapped(addr uint64) string {
	r := m.space.reserved(addr)
	if r == nil {
		return ""
	}
	v := m.space.mappedAt(addr)
	switch {
	case v == nil:
		return fmt.Sprintf("%d bytes into a reservation (%d bytes at %#x), where no memory is mapped", addr-r.base, r.size, r.base)
	case v.access[m.bank] == NoAccess:
		return fmt.Sprintf("%d bytes into mapped memory (%d bytes at %#x), to which cuMemSetAccess has given this GPU no access", addr-v.base, v.of.size, v.base)
	case v.access[m.bank] == ReadOnly:
		return fmt.Sprintf("%d bytes into mapped memory (%d bytes at %#x), which cuMemSetAccess lets this GPU only read", addr-v.base, v.of.size, v.base)
	}
	return ""
}

// at returns the host address at an offset.
func (h *hostRange) at(off uint64) unsafe.Pointer { return unsafe.Add(h.start, uintptr(off)) }
