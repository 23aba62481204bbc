package interp

import (
	"bytes"
	"fmt"
	"unsafe"
)

// This memory is shared by several processes, each of which simulates its own work. A store
// by one is visible to the others at once, so a launch must not restore the old contents of
// a page. While a space has shared memory, blocks run in grid order.

// Share moves the allocation that starts at addr to zeroed pages that other processes
// can map. Its address and contents are unchanged. The pages must have the size of the
// allocation and stay in place until it is freed.
func (m *Memory) Share(addr uint64, pages []byte) error {
	a := m.allocs.find(addr, 0)
	switch {
	case a == nil || a.base != addr:
		return fmt.Errorf("interp: nothing to share starts at %#x: %s", addr, m.nearest(addr))
	case a.shared:
		return fmt.Errorf("interp: %s is shared already", a.name)
	case uint64(len(pages)) != a.size:
		return fmt.Errorf("interp: %d bytes of pages for the %d bytes of %s", len(pages), a.size, a.name)
	}
	copyNonzero(pages, a.bytes())
	a.unmap()
	a.words, a.valid = nil, nil
	m.share(a, pages)
	return nil
}

// Import makes an allocation of pages that another process shares. They must stay in
// place until it is freed. They do not count as used, since they are memory of the
// other process.
func (m *Memory) Import(pages []byte, name string) (uint64, error) {
	base, err := m.space.take(uint64(len(pages)), allocAlign)
	if err != nil {
		return 0, fmt.Errorf("interp: %d bytes for %s: %w", len(pages), name, err)
	}
	a := &allocation{base: base, size: uint64(len(pages)), name: name, owner: m, imported: true}
	m.share(a, pages)
	m.allocs.insert(a)
	return base, nil
}

// share makes pages the memory of an allocation.
func (m *Memory) share(a *allocation, pages []byte) {
	a.data, a.shared = unsafe.Pointer(unsafe.SliceData(pages)), true
	m.space.shared++
}

// Shared reports whether the memory at addr may be written to by other processes or
// through other addresses.
func (m *Memory) Shared(addr uint64) bool {
	a := m.lookup(addr, 0)
	return a != nil && (a.shared || a.within != nil)
}

// copyNonzero copies to zeroed pages. It skips pages of zeros, which need no host
// memory until they are written.
func copyNonzero(dst, src []byte) {
	var zeros [hostAlign]byte
	for off := 0; off < len(src); off += hostAlign {
		page := src[off:min(off+hostAlign, len(src))]
		if !bytes.Equal(page, zeros[:len(page)]) {
			copy(dst[off:], page)
		}
	}
}
