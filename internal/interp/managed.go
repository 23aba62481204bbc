package interp

import (
	"slices"
)

// PageBytes is how much of managed memory moves at a time. Drivers move 64 KiB around
// a page that is touched, and more when its neighbours were touched before
// (N. Sakharnykh, "Everything you need to know about unified memory", GTC 2018).
const PageBytes = 64 << 10

// Home says where bytes are, as one device sees it.
type Home uint8

const (
	Here  Home = iota // memory of the device, and managed memory that has moved there
	Host              // memory of the host
	There             // memory of another device
)

// Home is where n bytes at addr are; of managed memory of which not all is here, where the
// first page is that is not.
func (m *Memory) Home(addr uint64, n int64) Home {
	a := m.lookup(addr, 0)
	switch {
	case a == nil || a.owner == m:
		return Here
	case a.within != nil:
		return m.homeOf(a.within, addr, n)
	case a.owner != nil:
		return There
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

// ManagedAlloc returns n zeroed bytes of managed memory, at an address that depends on
// the sequence of calls alone.
func (s *Space) ManagedAlloc(n int64, name string) (addr uint64, b []byte, err error) {
	a, err := s.hostAlloc(n, name)
	if err != nil {
		return 0, nil, err
	}
	a.mapped, a.managed = true, true
	return a.base, a.bytes(), nil
}

// LendManaged is Lend of what becomes managed memory.
func (s *Space) LendManaged(b []byte, name string) (addr uint64, err error) {
	a, err := s.lend(b, name)
	if err != nil {
		return 0, err
	}
	a.managed = true
	return a.base, nil
}

// Managed reports whether n bytes at addr lie in one allocation of managed memory.
func (s *Space) Managed(addr uint64, n int64) bool {
	a := s.host.find(addr, uint64(n))
	return a != nil && a.managed
}

// Move brings the pages that hold n bytes at addr to a device, or to the host when to is
// nil. It returns how many bytes were elsewhere. What is no managed memory does not move.
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

func (a *allocation) pageCount() uint64 { return (a.size + PageBytes - 1) / PageBytes }

// pageOf is the page of an address, and pagesTo the one behind the last of n bytes there.
func (a *allocation) pageOf(addr uint64) uint64 { return (addr - a.base) / PageBytes }

func (a *allocation) pagesTo(addr uint64, n int64) uint64 {
	return (addr - a.base + uint64(n) + PageBytes - 1) / PageBytes
}

// moveFrom sends home what a device has of managed memory.
func (a *allocation) moveFrom(m *Memory) {
	for i, home := range a.homes {
		if home == m {
			a.homes[i] = nil
		}
	}
}

// visit notes the pages of an access to managed memory. Sites need no other look until
// they leave them.
func (r *reach) visit(addr, n uint64) {
	first, end := r.pageOf(addr), r.pagesTo(addr, int64(n))
	r.visited.set(first, end)
	r.lo = r.base + first*PageBytes
	r.room = min(end*PageBytes, r.size) - first*PageBytes
}

// Visit is the pages that a launch touched of managed memory, as spans of addresses,
// sorted and not adjacent.
type Visit struct {
	Base  uint64
	Pages []Span
}

// visits joins the pages that the engines visited, by address.
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

// pagesOf is what all engines visited of an allocation.
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
