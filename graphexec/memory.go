package graphexec

import (
	"fmt"

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
	if x.memory != nil {
		p.serials = append([]uint64(nil), x.memory.serial...)
	}
	for i, at := range p.settings.pointer {
		id := ir.BufferID(i)
		if at == x.prog.settings.pointer[i] {
			continue
		}
		if err := x.allows(id, at, p); err != nil {
			return err
		}
		for j, other := range p.settings.pointer {
			if i != j && other != 0 && at < other+device.Ptr(x.buffer(ir.BufferID(j)).Size()) && other < at+device.Ptr(x.buffer(id).Size()) {
				return fmt.Errorf("buffer @%s would share memory with @%s, and the plan does not order them: use other memory, or trace again", x.buffer(id).Name, x.buffer(ir.BufferID(j)).Name)
			}
		}
	}
	return nil
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
	p.serials[id] = a.Serial
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
