package interp

import "fmt"

// Reserve takes addresses for n bytes that are allocated and freed repeatedly, by Commit
// and Free. While they are not allocated, an access to them is a fault.
func (m *Memory) Reserve(n int64, name string) (uint64, error) {
	base, err := m.space.take(uint64(n), allocAlign)
	if err != nil {
		return 0, fmt.Errorf("interp: %d bytes for %s: %w", n, name, err)
	}
	m.reserved.insert(&allocation{base: base, size: uint64(n), name: name, owner: m, reserved: true})
	return base, nil
}

// Commit allocates the reservation at addr. Its contents are undefined.
func (m *Memory) Commit(addr uint64) error {
	r := m.reserved.find(addr, 0)
	switch {
	case r == nil || r.base != addr:
		return fmt.Errorf("interp: nothing is reserved at %#x", addr)
	case m.allocs.find(addr, 0) != nil:
		return fmt.Errorf("interp: %s is allocated already", r.name)
	case int64(r.size) > m.bank.Free():
		return fmt.Errorf("interp: %w: %d bytes for %s, %d of %d in use", ErrOutOfMemory, r.size, r.name, m.bank.used, m.bank.limit)
	}
	a := &allocation{base: r.base, size: r.size, name: r.name, owner: m, reserved: true}
	if err := a.back(); err != nil {
		return fmt.Errorf("interp: %w: %d bytes for %s: the host has no such memory: %w", ErrOutOfMemory, r.size, r.name, err)
	}
	m.used += int64(a.size)
	m.bank.used += int64(a.size)
	m.allocs.insert(a)
	if m.track {
		a.markUninitialised()
	}
	return nil
}

// Reserved reports whether n bytes at addr are reserved, whether or not they are
// allocated.
func (m *Memory) Reserved(addr, n uint64) bool { return m.reserved.find(addr, n) != nil }

// Relinquish ends a reservation and frees its allocation.
func (m *Memory) Relinquish(addr uint64) {
	if i := m.allocs.search(addr); i >= 0 && m.allocs[i].base == addr {
		m.drop(i)
	}
	if i := m.reserved.search(addr); i >= 0 && m.reserved[i].base == addr {
		m.remember(m.reserved[i])
		m.reserved.remove(i)
	}
}

// nearestReserved describes a pointer to a reservation that is not allocated.
func (m *Memory) nearestReserved(addr uint64) string {
	if a := m.reserved.find(addr, 1); a != nil {
		return fmt.Sprintf("%d bytes into %s (%d bytes at %#x), which is not allocated at this time", addr-a.base, a.name, a.size, a.base)
	}
	return ""
}
