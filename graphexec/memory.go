package graphexec

import (
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// memory knows whose the memory is that replays use.
type memory struct {
	ledger device.Ledger
	freed  uint64   // what the ledger said when all of it was there
	serial []uint64 // by buffer: of the allocation it lies in, 0 for none that the ledger has
}

// watch notes what a program is bound to; nil for a device that cannot say.
func watch(dev device.Device, s *settings) *memory {
	l, ok := dev.(device.Ledger)
	if !ok {
		return nil
	}
	m := &memory{ledger: l, freed: l.Freed(), serial: make([]uint64, len(s.pointer))}
	for i, p := range s.pointer {
		if a, err := l.Allocation(p, 0); err == nil && p != 0 {
			m.serial[i] = a.Serial
		}
	}
	return m
}

// kind is that of the memory at an address.
func (m *memory) kind(p device.Ptr) device.MemoryKind {
	a, _ := m.ledger.Allocation(p, 0)
	return a.Kind
}

// stale names a buffer whose memory was freed. While nothing was, it asks for one number.
func (x *Exec) stale() error {
	m := x.memory
	if m == nil {
		return nil
	}
	freed := m.ledger.Freed()
	if freed == m.freed {
		return nil
	}
	for i, p := range x.prog.settings.pointer {
		if m.serial[i] == 0 {
			continue
		}
		if a, err := m.ledger.Allocation(p, 0); err != nil || a.Serial != m.serial[i] {
			return fmt.Errorf("buffer @%s was freed, or moved, after it was bound: bind it to other memory with Rebind, or instantiate again", x.buffer(ir.BufferID(i)).Name)
		}
	}
	m.freed = freed
	return nil
}

// place checks where changes have put buffers.
func (x *Exec) place(p *planned) error {
	moved := slices.Sorted(maps.Keys(p.pointer))
	moved = slices.DeleteFunc(moved, func(id ir.BufferID) bool { return p.at(id) == p.of.pointer[id] })
	for _, id := range moved {
		if err := x.allows(id, p.at(id), p); err != nil {
			return err
		}
		if other, ok := x.meets(id, moved, p); ok {
			return fmt.Errorf("buffer @%s would share memory with @%s, and the plan does not order them: use other memory, or trace again", x.buffer(id).Name, x.buffer(other).Name)
		}
	}
	return nil
}

// meets is a buffer that has some of the memory where another is put. Where one of those that move was, none of the rest can be,
// so that Swap in a program of many buffers looks at two.
func (x *Exec) meets(id ir.BufferID, moved []ir.BufferID, p *planned) (ir.BufferID, bool) {
	lo, hi := p.at(id), p.at(id)+device.Ptr(x.buffer(id).Size())
	end := func(j ir.BufferID, at device.Ptr) device.Ptr { return at + device.Ptr(x.buffer(j).Size()) }
	meets := func(j ir.BufferID) bool { return j != id && p.at(j) != 0 && lo < end(j, p.at(j)) && p.at(j) < hi }
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
	put(&p.serials, id, a.Serial)
	was := x.memory.kind(x.prog.settings.pointer[id])
	if a.Kind == was {
		return nil
	}
	for _, op := range x.prog.users().buffer[id] {
		if x.prog.sched.Graph.Ops[op].Copy == nil {
			return fmt.Errorf("buffer @%s is in %v and cannot be in %v, for %s uses it", b.Name, was, a.Kind, opName(x.prog.sched.Graph, op))
		}
	}
	return nil
}
