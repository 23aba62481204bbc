package ranks

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/ir"
)

// allocations is the memory of one device for the buffers of a plan. Of each buffer the device has a part. Kernels get the
// address that the whole buffer would have, so that they run unchanged:
//
//	buffer     0 ─────────── lo ═══════════ hi ──────── size
//	address    base          base+lo, the allocation
type allocations struct {
	g    *ir.Graph
	at   []device.Ptr      // by buffer: the allocation, 0 if there is none
	part []distribute.Span // by buffer
}

// allocate allocates the parts of one device.
func allocate(dev device.Device, g *ir.Graph, part []distribute.Span) (*allocations, error) {
	m := &allocations{g, make([]device.Ptr, len(part)), part}
	for b, s := range part {
		if s.Lo == s.Hi {
			continue
		}
		p, err := dev.Alloc(s.Hi - s.Lo)
		if err != nil {
			return m, fmt.Errorf("memory for bytes %d to %d of buffer %s: %w", s.Lo, s.Hi, g.Buffers[b].Name, err)
		}
		m.at[b] = p
		if n, is := dev.(device.Namer); is {
			n.NameMemory(p, g.Buffers[b].Name)
		}
	}
	return m, nil
}

// free frees the memory.
func (m *allocations) free(dev device.Device) (err error) {
	for b, p := range m.at {
		if p == 0 {
			continue
		}
		if e := dev.Free(p); err == nil {
			err = e
		}
		m.at[b] = 0
	}
	return err
}

// Address returns the address that the whole buffer would have. It may be below the allocation, or wrap around.
func (m *allocations) Address(b ir.BufferID) device.Ptr { return m.at[b] - device.Ptr(m.part[b].Lo) }

// Value returns the first value of a parameter.
func (m *allocations) Value(p ir.ParamID) ir.Scalar { return m.g.Params[p].Value }

// byte returns the address of a byte of a buffer.
func (m *allocations) byte(b ir.BufferID, at int64) device.Ptr {
	return m.Address(b) + device.Ptr(at)
}
