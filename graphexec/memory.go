package graphexec

import (
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// memory records which allocations a program uses, to detect that one was freed.
//
// The ledger counts frees. While the count equals freed, no allocation of the device was freed since
// all of them were last found valid, so the check before a replay compares one number. Otherwise the
// serial number of each allocation is compared: an address that was freed and allocated again has
// another serial.
type memory struct {
	ledger device.Ledger
	freed  uint64              // Ledger.Freed at the last check that found all allocations valid
	homes  []device.Allocation // by buffer; Serial is 0 for memory that the ledger does not list
}

// watch records the allocations to which a program is bound. It returns nil for a device without a
// ledger; nothing is then detected.
func watch(dev device.Device, s *settings) *memory {
	l, ok := dev.(device.Ledger)
	if !ok {
		return nil
	}
	m := &memory{ledger: l, freed: l.Freed(), homes: make([]device.Allocation, len(s.pointer))}
	for i, p := range s.pointer {
		if a, err := l.Allocation(p, 0); err == nil && p != 0 {
			m.homes[i] = a
		}
	}
	return m
}

// intact reports whether nothing was freed since the last check. It is true without a ledger.
func (m *memory) intact() bool { return m == nil || m.ledger.Freed() == m.freed }

// stale returns an error that names a buffer whose memory was freed. It takes O(1) if nothing was
// freed since the last check, and otherwise looks up every buffer. The count is read before the look,
// so that a free in between is found by the next check.
func (x *Exec) stale() error {
	m := x.memory
	if m.intact() {
		return nil
	}
	freed := m.ledger.Freed()
	for i := range m.homes {
		if id := ir.BufferID(i); x.gone(id) {
			return x.errGone(id)
		}
	}
	m.freed = freed
	return nil
}

// gone reports whether the allocation to which a buffer was bound has been freed.
func (x *Exec) gone(id ir.BufferID) bool {
	home := x.memory.homes[id].Serial
	if home == 0 {
		return false
	}
	a, err := x.memory.ledger.Allocation(x.prog.settings.pointer[id], 0)
	return err != nil || a.Serial != home
}

// there returns an error if the memory of a buffer was freed, unless an earlier change in e has bound
// the buffer to other memory.
func (x *Exec) there(id ir.BufferID, e *edits) error {
	if x.memory.intact() {
		return nil
	}
	if _, bound := e.pointer[id]; bound || !x.gone(id) {
		return nil
	}
	return x.errGone(id)
}

func (x *Exec) errGone(id ir.BufferID) error {
	return fmt.Errorf("buffer @%s was %w: close its trace after the Exec, bind it to other memory with Rebind, or instantiate again", x.buffer(id).Name, device.ErrFreed)
}

// lasting returns an error if one of the operations ops would use freed memory after the changes: the
// memory of a buffer was freed, and the changes do not bind that buffer. Operations that the changes
// do not touch are left to stale, so that Rebind can repair a program one buffer at a time.
func (x *Exec) lasting(p *planned, ops []ir.OpID) error {
	if x.memory.intact() {
		return nil
	}
	touched := func(op ir.OpID) bool { return slices.Contains(ops, op) }
	for i := range x.memory.homes {
		id := ir.BufferID(i)
		if _, bound := p.homes[id]; !bound && x.gone(id) && slices.ContainsFunc(x.prog.users().buffer[id], touched) {
			return x.errGone(id)
		}
	}
	return nil
}

// place checks the addresses of buffers after the changes: each must be in an allocation of sufficient
// size and a valid kind, and moved buffers must not overlap others.
func (x *Exec) place(p *planned) error {
	bound := slices.Sorted(maps.Keys(p.pointer))
	for _, id := range bound { // also if the address is the same: it may belong to another allocation now
		if err := x.allows(id, p.Address(id), p); err != nil {
			return err
		}
	}
	moved := slices.DeleteFunc(bound, func(id ir.BufferID) bool { return p.Address(id) == p.of.pointer[id] })
	for _, id := range moved {
		if other, ok := x.meets(id, moved, p); ok {
			return fmt.Errorf("buffer @%s would share memory with @%s, and the plan does not order them: use other memory, or trace again", x.buffer(id).Name, x.buffer(other).Name)
		}
	}
	return nil
}

// meets returns a buffer that would overlap moved buffer id, if there is one. In general it compares
// id with every buffer. If id moves into the previous memory of a moved buffer, it compares id with
// the moved ones only: no other buffer can be there, because buffers did not overlap before. So Swap
// takes O(1) in a program with many buffers.
func (x *Exec) meets(id ir.BufferID, moved []ir.BufferID, p *planned) (ir.BufferID, bool) {
	lo, hi := p.Address(id), p.Address(id)+device.Ptr(x.buffer(id).Size())
	end := func(j ir.BufferID, at device.Ptr) device.Ptr { return at + device.Ptr(x.buffer(j).Size()) }
	meets := func(j ir.BufferID) bool {
		return j != id && p.Address(j) != 0 && lo < end(j, p.Address(j)) && p.Address(j) < hi
	}
	if slices.ContainsFunc(moved, func(j ir.BufferID) bool { return p.of.pointer[j] <= lo && hi <= end(j, p.of.pointer[j]) }) {
		if i := slices.IndexFunc(moved, meets); i >= 0 {
			return moved[i], true
		}
		return 0, false
	}
	for j := range p.of.pointer {
		if meets(ir.BufferID(j)) {
			return ir.BufferID(j), true
		}
	}
	return 0, false
}

// allows returns an error if a buffer cannot be at an address: the allocation there is too small, was
// freed, or is of another kind although an operation other than a copy uses the buffer. Only copies
// can be lowered again for another kind of memory. The allocation is recorded in p.homes.
func (x *Exec) allows(id ir.BufferID, at device.Ptr, p *planned) error {
	if x.memory == nil {
		return nil
	}
	b := x.buffer(id)
	a, err := x.memory.ledger.Allocation(at, b.Size())
	if device.CodeOf(err) == device.NotSupported {
		return nil
	}
	if err != nil {
		return fmt.Errorf("buffer @%s needs %d bytes: %w", b.Name, b.Size(), err)
	}
	put(&p.homes, id, a)
	was := x.memory.homes[id].Kind
	if a.Kind == was {
		return nil
	}
	for _, op := range x.prog.users().buffer[id] {
		if x.prog.op(op).Copy == nil {
			return fmt.Errorf("buffer @%s is in %v and cannot be in %v, for %s uses it", b.Name, was, a.Kind, x.prog.name(op))
		}
	}
	return nil
}
