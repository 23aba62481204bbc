package interp

import (
	"slices"
)

// PageBytes is the unit in which managed memory migrates. Drivers migrate 64 KiB around
// a touched page, and more if its neighbours were touched before (N. Sakharnykh,
// "Everything you need to know about unified memory", GTC 2018).
const PageBytes = 64 << 10

// Home is the location of bytes, relative to one device.
type Home uint8

const (
	Here  Home = iota // memory of the device, including managed memory that has migrated to it
	Host              // memory of the host
	There             // memory of another device
)

// Home returns the location of n bytes at addr. For managed memory that is not entirely
// here, it is the location of the first page that is elsewhere.
func (m *Memory) Home(addr uint64, n int64) Home {
	a := m.lookup(addr, 0)
	switch {
	case a == nil || a.owner == m:
		return Here
	case a.within != nil:
		return m.homeOf(a.within, addr, n)
	case a.owner != nil:
		return There
	// No page has migrated yet.
	case a.homes == nil:
		return Host
	}
	for _, home := range a.homes[a.pageOf(addr):a.pagesTo(addr, n)] {
		switch home {
		case m:
		case nil:
			return Host
		default:
			return There
		}
	}
	return Here
}

// ManagedAlloc returns n zeroed bytes of managed memory. The address depends only on
// the sequence of calls.
func (s *Space) ManagedAlloc(n int64, name string) (addr uint64, b []byte, err error) {
	a, err := s.hostAlloc(n, name)
	if err != nil {
		return 0, nil, err
	}
	a.mapped, a.managed = true, true
	return a.base, a.bytes(), nil
}

// LendManaged is Lend for managed memory.
func (s *Space) LendManaged(b []byte, name string) (addr uint64, err error) {
	a, err := s.lend(b, name)
	if err != nil {
		return 0, err
	}
	a.managed = true
	return a.base, nil
}

// Managed reports whether n bytes at addr are inside one allocation of managed memory.
func (s *Space) Managed(addr uint64, n int64) bool {
	a := s.host.find(addr, uint64(n))
	return a != nil && a.managed
}

// Move migrates the pages of n bytes at addr to a device, or to the host if to is nil. It
// returns the number of bytes that were elsewhere. Memory that is not managed does not
// move.
func (s *Space) Move(addr uint64, n int64, to *Memory) (moved int64) {
	a := s.host.find(addr, uint64(n))
	if a == nil || !a.managed || a.homes == nil && to == nil {
		return 0
	}
	if a.homes == nil {
		a.homes = make([]*Memory, a.pageCount())
	}
	for i := a.pageOf(addr); i < a.pagesTo(addr, n); i++ {
		if a.homes[i] != to {
			moved += int64(min(PageBytes, a.size-i*PageBytes))
			a.homes[i] = to
		}
	}
	return moved
}

// pageCount returns the number of pages of managed memory.
func (a *allocation) pageCount() uint64 { return (a.size + PageBytes - 1) / PageBytes }

// pageOf returns the page of an address. pagesTo returns the page after the last of n
// bytes.
func (a *allocation) pageOf(addr uint64) uint64 { return (addr - a.base) / PageBytes }

// pagesTo returns the page after the last of n bytes at addr.
func (a *allocation) pagesTo(addr uint64, n int64) uint64 {
	return (addr - a.base + uint64(n) + PageBytes - 1) / PageBytes
}

// moveFrom migrates the managed memory on a device to the host.
func (a *allocation) moveFrom(m *Memory) {
	for i, home := range a.homes {
		if home == m {
			a.homes[i] = nil
		}
	}
}

// visit records the pages of an access to managed memory. A site that stays inside
// these pages needs no further check.
func (r *reach) visit(addr, n uint64) {
	first, end := r.pageOf(addr), r.pagesTo(addr, int64(n))
	r.visited.set(first, end)
	r.lo = r.base + first*PageBytes
	r.extent = min(end*PageBytes, r.size) - first*PageBytes
}

// Visit is the set of pages of managed memory that a launch touched, as spans of
// addresses that are sorted and not adjacent.
type Visit struct {
	Base  uint64
	Pages []Span
}

// visits returns the union of the pages that the engines visited, by address.
func (r *run) visits() (list []Visit) {
	for _, e := range r.engines {
		for _, t := range e.reached {
			if !t.managed {
				continue
			}
			if !slices.ContainsFunc(list, func(v Visit) bool { return v.Base == t.base }) {
				list = append(list, Visit{Base: t.base, Pages: r.pagesOf(t.allocation)})
			}
		}
	}
	slices.SortFunc(list, func(a, b Visit) int { return int(int64(a.Base) - int64(b.Base)) })
	return list
}

// pagesOf returns the pages of an allocation that any engine visited.
func (r *run) pagesOf(a *allocation) (pages []Span) {
	pages = spans(nil, 0, 0, bitmapWords(a.pageCount()), func(i int) (word uint64) {
		for _, e := range r.engines {
			if t := e.reachOf[a]; t != nil {
				word |= t.visited[i]
			}
		}
		return word
	})
	for i, p := range pages {
		pages[i] = Span{a.base + p.Lo*PageBytes, a.base + min(p.Hi*PageBytes, a.size)}
	}
	return pages
}
