package sim

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/interp"
)

// Virtual memory management: a program reserves addresses, creates physical memory on a GPU, maps the memory to the
// addresses, and sets the access rights of GPUs. None of this belongs to a device, and none of it costs virtual time,
// except for the waits of Unmap and Allow: one wait per call, whatever the number of devices.

// ReserveAddresses reserves addresses for mappings. Their start is a multiple of align, which is a power of two or 0.
func (s *System) ReserveAddresses(bytes int64, align uint64) (device.Ptr, error) {
	addr, err := s.space.ReserveRange(bytes, align)
	return device.Ptr(addr), virtualError(bytes, err, "ReserveAddresses")
}

// FreeAddresses releases a reservation without mappings.
func (s *System) FreeAddresses(p device.Ptr, bytes int64) error {
	return virtualError(bytes, s.space.FreeRange(uint64(p), bytes), "FreeAddresses")
}

// Reservation returns the start and the size of the reservation that holds p.
func (s *System) Reservation(p device.Ptr) (base device.Ptr, bytes int64, ok bool) {
	b, n, ok := s.space.Reservation(uint64(p))
	return device.Ptr(b), n, ok
}

// CreatePhysical allocates zeroed memory of the GPU without an address. The size must be a multiple of
// interp.Granularity.
func (g *GPU) CreatePhysical(bytes int64) (*interp.Physical, error) {
	p, err := g.system.space.CreatePhysical(g.bank, bytes)
	return p, virtualError(bytes, err, "CreatePhysical")
}

// Map maps all of m at an address of a reservation. No GPU has access to it yet.
func (s *System) Map(p device.Ptr, m *interp.Physical) error {
	if m == nil {
		return unset("Map", "the physical memory")
	}
	return virtualError(m.Bytes(), s.space.Map(uint64(p), m), "Map")
}

// Unmap waits for all work, then removes the mappings in the range, which must consist of whole mappings.
func (s *System) Unmap(p device.Ptr, bytes int64) error {
	if err := s.space.Mapped(uint64(p), bytes); err != nil {
		return virtualError(bytes, err, "Unmap")
	}
	s.drain()
	for _, d := range s.devices {
		if base, _, ok := d.memory.Base(uint64(p)); ok {
			d.l2.Forget(base)
		}
	}
	return virtualError(bytes, s.space.Unmap(uint64(p), bytes), "Unmap")
}

// Grant is the access right of a GPU to mapped memory.
type Grant struct {
	GPU    *GPU
	Access interp.Access
}

// Allow waits for all work, then sets the access rights to the mappings in the range, which must consist of whole
// mappings.
func (s *System) Allow(p device.Ptr, bytes int64, grants ...Grant) error {
	for _, g := range grants {
		if g.GPU == nil {
			return unset("Allow", "the GPU")
		}
	}
	if err := s.space.Mapped(uint64(p), bytes); err != nil {
		return virtualError(bytes, err, "Allow")
	}
	s.drain()
	for _, g := range grants {
		if err := s.space.Allow(uint64(p), bytes, g.GPU.bank, g.Access); err != nil {
			return virtualError(bytes, err, "Allow")
		}
	}
	return nil
}

// MappedAt returns the start of the mapping that holds p, the mapped memory, and the access right of a GPU.
func (s *System) MappedAt(p device.Ptr, g *GPU) (base device.Ptr, of *interp.Physical, a interp.Access, ok bool) {
	var bank *interp.Bank
	if g != nil {
		bank = g.bank
	}
	b, of, a, ok := s.space.MappedAt(uint64(p), bank)
	return device.Ptr(b), of, a, ok
}

// drain waits for the work of all devices, in the time of one wait. Errors are returned by the next call of the
// device concerned. Other callers are let in meanwhile, and may close devices.
func (s *System) drain() {
	var wait model.Time
	end := s.time.clock.Next()
	for _, m := range s.space.Memories() {
		if d := s.devices[m]; d != nil {
			s.time.host = max(s.time.host, d.drained())
			wait = max(wait, d.profile.Host.Synchronize)
		}
	}
	s.time.host = des.Plus(s.time.host, wait)
	for _, d := range s.open() {
		d.retire()
		d.emptied(end)
	}
}

// open returns the devices in the order in which they were opened.
func (s *System) open() (list []*Device) {
	for _, m := range s.space.Memories() {
		list = append(list, s.devices[m])
	}
	return list
}

func virtualError(bytes int64, err error, call string) error {
	if err == nil {
		return nil
	}
	return refusedMemory(bytes, err).In(call)
}

// writable returns an error if work cannot write n bytes at an address.
func (d *Device) writable(p device.Ptr, n int64) *device.Error {
	if err := d.within(p, n); err != nil {
		return err
	}
	if !d.memory.Writable(uint64(p), uint64(n)) {
		return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%d bytes at %#x, mapped memory that this GPU may only read", n, uint64(p))}
	}
	return nil
}

// pieces splits an access to mapped memory by physical memory. It calls each with one touch per piece, at its
// position in all physical memory. An access to other memory is one piece.
func (r *races) pieces(base uint64, t *touch, each func(base uint64, t *touch)) {
	all := r.memory.Pieces(base)
	if all == nil {
		each(base, t)
		return
	}
	for _, p := range all {
		part := *t
		part.spans, part.sites = nil, nil
		for _, s := range t.spans {
			if lo, hi := max(s.Lo, p.Lo), min(s.Hi, p.Hi); lo < hi {
				part.spans = append(part.spans, interp.Span{Lo: lo + p.Shift, Hi: hi + p.Shift})
			}
		}
		if len(part.spans) == 0 {
			continue
		}
		for _, s := range t.sites {
			if lo, hi := max(s.Range.Lo, p.Lo), min(s.Range.Hi, p.Hi); lo < hi {
				s.Range = interp.Span{Lo: lo + p.Shift, Hi: hi + p.Shift}
				part.sites = append(part.sites, s)
			}
		}
		each(p.Base, &part)
	}
}
