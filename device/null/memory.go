package null

import (
	"fmt"
	"sort"

	"github.com/reprise-gpu/reprise/device"
)

const (
	alignment = 256 // bytes, as the contract promises
	firstByte = 0x7f00_0000_0000
)

// memory is an address space without storage: addresses only ascend, so the
// blocks stay sorted and a freed address is never given out again.
type memory struct {
	blocks []block
	next   uint64
	bytes  int64
}

type block struct {
	base    uint64
	size    int64
	managed bool
}

func (m *memory) room(bytes, limit int64) *device.Error {
	switch {
	case bytes < 0:
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%d bytes; want 0 or more", bytes)}
	case bytes > limit-m.bytes:
		return &device.Error{Code: device.OutOfMemory, Detail: fmt.Sprintf("%d bytes, with %d of %d in use", bytes, m.bytes, limit)}
	}
	return nil
}

// alloc leaves one unused unit after each block, so that blocks never touch.
func (m *memory) alloc(bytes int64) device.Ptr {
	base := max(m.next, firstByte)
	m.next = base + (uint64(bytes)/alignment+2)*alignment
	m.blocks = append(m.blocks, block{base: base, size: bytes})
	m.bytes += bytes
	return device.Ptr(base)
}

// manage makes managed memory of the block at p.
func (m *memory) manage(p device.Ptr) { m.blocks[m.find(uint64(p))].managed = true }

// withinManaged is within that refuses other memory, which does not move.
func (m *memory) withinManaged(p device.Ptr, bytes int64) *device.Error {
	if bytes < 0 {
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%d bytes; want 0 or more", bytes)}
	}
	if err := m.within(p, bytes); err != nil {
		return err
	}
	if !m.blocks[m.find(uint64(p))].managed {
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%d bytes at %#x, which is not managed memory and does not move", bytes, uint64(p))}
	}
	return nil
}

// find is the index of the last block at or below an address, or -1.
func (m *memory) find(addr uint64) int {
	return sort.Search(len(m.blocks), func(i int) bool { return m.blocks[i].base > addr }) - 1
}

func (m *memory) free(p device.Ptr) *device.Error {
	i := m.find(uint64(p))
	if i < 0 || m.blocks[i].base != uint64(p) {
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%#x is not the address of an allocation, or was freed before", uint64(p))}
	}
	m.bytes -= m.blocks[i].size
	m.blocks = append(m.blocks[:i], m.blocks[i+1:]...)
	return nil
}

// within says what is wrong with an access to bytes bytes at p.
func (m *memory) within(p device.Ptr, bytes int64) *device.Error {
	i := m.find(uint64(p))
	if i < 0 {
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%d bytes at %#x, which no allocation holds", bytes, uint64(p))}
	}
	b := m.blocks[i]
	at := int64(uint64(p) - b.base)
	if at > b.size || bytes > b.size-at {
		return &device.Error{Code: device.InvalidValue,
			Detail: fmt.Sprintf("%d bytes at %#x, which is byte %d of the %d-byte allocation at %#x", bytes, uint64(p), at, b.size, b.base)}
	}
	return nil
}
