package graphexec

import (
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// memory records which allocations a replay uses, to detect that one was freed.
type memory struct {
	ledger device.Ledger
	freed  uint64              // what the ledger said when all of it was there
	homes  []device.Allocation // by buffer, what it was bound to; without a serial for what the ledger does not have
}

// watch notes what a program is bound to; nil for a device that cannot say.
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

// intact is whether nothing was freed since all of it was there, as far as the device can say.
func (m *memory) intact() bool { return m == nil || m.ledger.Freed() == m.freed }

// stale returns an error that names a buffer whose memory was freed. If nothing was freed since the last check, it only
// compares one number.
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

// gone is whether the memory that a buffer was bound to was freed.
func (x *Exec) gone(id ir.BufferID) bool {
	home := x.memory.homes[id].Serial
	if home == 0 {
		return false
	}
	a, err := x.memory.ledger.Allocation(x.prog.settings.pointer[id], 0)
	return err != nil || a.Serial != home
}

// there is an error for a buffer whose memory was freed, unless changes before have bound it anew.
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

// lasting names a buffer whose memory was freed, which changes leave where it is, though some of the operations that they touch use it.
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

// place checks where changes have put buffers.
func (x *Exec) place(p *planned) error {
	bound := slices.Sorted(maps.Keys(p.pointer))
	for _, id := range bound { // also to where it was: that may be other memory by now
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

// meets is a buffer that has some of the memory where another is put. Where one of those that move was, none of the rest can be,
// so that Swap in a program of many buffers looks at two.
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

// allows says why a buffer cannot be at an address.
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
