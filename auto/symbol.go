package auto

import (
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/ir"
)

// likeness returns a hash of all of a call except which buffers it uses and the values of its scalars. Calls in the
// same place of two occurrences have the same likeness even if buffers rotate and scalars change.
func likeness(c *calls.Call) uint64 {
	h := calls.Hash(c.Kind).Add(uint64(c.PC))
	if k := c.Kernel; k != nil {
		h = c.Shape.AddTo(h.Add(uint64(k.Number)))
	}
	for i := range c.Operands {
		if o := &c.Operands[i]; o.Kind == ir.ArgBuffer {
			h = h.Add(o.Bits).Add(uint64(o.End))
		} else {
			h = h.Add(uint64(o.Type))
		}
	}
	return uint64(h) & symbolMask
}

// identity returns a hash of all of a call: its likeness, combined with buffers and values.
func (m *moment) identity() uint64 {
	if m.Kind == ir.KindEmpty {
		return m.like
	}
	h := calls.Hash(1)
	for i := range m.Operands {
		if o := &m.Operands[i]; o.Kind == ir.ArgBuffer {
			h = h.Add(uint64(o.ID))
		} else {
			h = h.Add(o.Bits)
		}
	}
	return (m.like ^ uint64(h.Add(0))) & symbolMask
}

// symbolMask masks all hashes of calls. Tests clear bits to provoke collisions.
var symbolMask = ^uint64(0)
