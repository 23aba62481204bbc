package ranks

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/ir"
)

// origins is the contents that the program has written, by buffer: pieces in the order of writing.
type origins []pieces

type pieces []piece

// piece is bytes of a buffer from an offset on.
type piece struct {
	lo    int64
	bytes []byte
	step  int // number of steps before it was written
}

// within returns the part of the piece inside [lo, hi).
func (one *piece) within(lo, hi int64) (at int64, part []byte) {
	lo, hi = max(lo, one.lo), min(hi, one.lo+int64(len(one.bytes)))
	if lo >= hi {
		return lo, nil
	}
	return lo, one.bytes[lo-one.lo : hi-one.lo]
}

// Write sets bytes of a buffer. All ranks write the same bytes. A rank may leave out bytes that none of its devices access,
// see Part. It returns an error if the bytes are outside of the buffer.
func (p *Plan) Write(to ir.Range, data []byte) error {
	if err := p.has(to); err != nil {
		return err
	}
	if b := &p.plan.Graph.Buffers[to.Buffer]; int64(len(data)) != to.Hi-to.Lo || to.Lo < 0 || to.Hi > b.Size() {
		return fmt.Errorf("%d bytes were passed for bytes %d to %d of %s, which has %d", len(data), to.Lo, to.Hi, b.Name, b.Size())
	}
	if err := p.usable(); err != nil {
		return err
	}
	if p.steps == 0 || p.unread(to) {
		p.origin[to.Buffer] = p.origin[to.Buffer].with(piece{to.Lo, slices.Clone(data), p.steps})
	}
	if p.steps == 0 {
		p.loaded = false
		return nil
	}
	return p.rank.fail(p.update(to, data))
}

// has returns an error if the plan has no such buffer.
func (p *Plan) has(r ir.Range) error {
	if n := len(p.plan.Graph.Buffers); r.Buffer < 0 || int(r.Buffer) >= n {
		return fmt.Errorf("the plan has no buffer %d: it has %d, those of the trace that it was compiled from", r.Buffer, n)
	}
	return nil
}

// text names bytes of a buffer, which may not exist.
func (p *Plan) text(r ir.Range) string {
	name := fmt.Sprintf("buffer %d", r.Buffer)
	if p.has(r) == nil {
		name = p.plan.Graph.Buffers[r.Buffer].Name
	}
	return fmt.Sprintf("%s[%d:%d]", name, r.Lo, r.Hi)
}

// unread reports whether some of the bytes are still those that the program has set, so that a later step may load them.
func (p *Plan) unread(r ir.Range) bool {
	return slices.ContainsFunc(p.held()[r.Buffer], func(h distribute.Held) bool { return h.Origin && max(h.Lo, r.Lo) < min(h.Hi, r.Hi) })
}

// with returns the pieces with a new one behind them. Pieces that it covers are dropped.
func (list pieces) with(last piece) pieces {
	hi := last.lo + int64(len(last.bytes))
	list = slices.DeleteFunc(list, func(one piece) bool { return last.lo <= one.lo && one.lo+int64(len(one.bytes)) <= hi })
	return append(list, last)
}

// update writes bytes to the devices of the rank that hold them.
func (p *Plan) update(to ir.Range, data []byte) error {
	for _, h := range p.held()[to.Buffer] {
		for d, dev := range p.rank.devices {
			part := p.memory[d].part[to.Buffer]
			lo, hi := max(h.Lo, to.Lo, part.Lo), min(h.Hi, to.Hi, part.Hi)
			if lo >= hi || !h.On(p.rank.first+int32(d)) {
				continue
			}
			if err := dev.Write(p.memory[d].byte(to.Buffer, lo), data[lo-to.Lo:hi-to.Lo]); err != nil {
				return p.at(d, err)
			}
		}
	}
	return nil
}

// held returns who holds the bytes of each buffer now.
func (p *Plan) held() [][]distribute.Held {
	r := p.roundOf(p.steps - 1)
	if p.fresh[r] == nil {
		p.fresh[r] = p.plan.Held(r)
	}
	return p.fresh[r]
}

// Part returns the bytes of a buffer that the devices of this rank access.
func (p *Plan) Part(b ir.BufferID) (lo, hi int64) {
	for _, m := range p.memory {
		s := m.part[b]
		switch {
		case s.Lo == s.Hi:
		case lo == hi:
			lo, hi = s.Lo, s.Hi
		default:
			lo, hi = min(lo, s.Lo), max(hi, s.Hi)
		}
	}
	return lo, hi
}

// Load brings the contents that the first step needs to the devices of this rank, for programs that time their steps. The
// first step does it otherwise. It is not collective.
func (p *Plan) Load() error {
	if err := p.usable(); err != nil || p.steps > 0 {
		return err
	}
	p.loaded = true
	return p.rank.fail(p.loadAll(&p.rounds[0]))
}

// loadAll writes the contents that a round begins with.
func (p *Plan) loadAll(one *round) error {
	for _, l := range one.loads {
		if err := p.load(l); err != nil {
			return err
		}
	}
	return nil
}

// load writes the contents that the program has set to a device.
func (p *Plan) load(l load) (err error) {
	for _, b := range p.plan.Frame(l.bytes.Buffer).Boxes(l.bytes.Lo, l.bytes.Hi) {
		b.Runs(func(lo, hi int64) bool {
			err = p.loadRun(l.device, ir.Range{Buffer: l.bytes.Buffer, Lo: lo, Hi: hi})
			return err == nil
		})
	}
	return err
}

// loadRun writes consecutive bytes.
func (p *Plan) loadRun(device int, to ir.Range) error {
	for _, one := range p.origin[to.Buffer] {
		at, part := one.within(to.Lo, to.Hi)
		if len(part) == 0 {
			continue
		}
		if err := p.rank.devices[device].Write(p.memory[device].byte(to.Buffer, at), part); err != nil {
			return p.at(device, err)
		}
	}
	return nil
}

// Read copies bytes of a buffer to data, after all steps so far. It is collective, and every rank gets all bytes, whichever
// ranks have written them. Bytes that every rank holds need no message. Before the first step, and for bytes that no device
// accesses, Read returns what was written last, and zero where nothing was.
func (p *Plan) Read(ctx context.Context, data []byte, from ir.Range) error {
	if err := p.has(from); err != nil {
		return err
	}
	b := &p.plan.Graph.Buffers[from.Buffer]
	if int64(len(data)) != from.Hi-from.Lo || from.Lo < 0 || from.Hi > b.Size() {
		return fmt.Errorf("%d bytes are to hold bytes %d to %d of %s, which has %d", len(data), from.Lo, from.Hi, b.Name, b.Size())
	}
	if err := p.usable(); err != nil {
		return err
	}
	if len(data) == 0 {
		return nil
	}
	return p.read(ctx, data, from)
}

func (p *Plan) read(ctx context.Context, data []byte, from ir.Range) error {
	if d := p.local(from); d >= 0 {
		return p.failure(p.at(d, p.rank.devices[d].Read(data, p.memory[d].byte(from.Buffer, from.Lo))))
	}
	parts := p.owners(from)
	if err := p.readWritten(ctx, data, from, outside(from, parts)); err != nil || len(parts) == 0 {
		return err
	}
	var mine []byte
	for _, o := range parts {
		d := int(o.device - p.rank.first)
		if d < 0 || d >= len(p.rank.devices) {
			continue
		}
		at := len(mine)
		mine = append(mine, make([]byte, o.hi-o.lo)...)
		if err := p.rank.devices[d].Read(mine[at:], p.memory[d].byte(from.Buffer, o.lo)); err != nil {
			return p.failure(p.at(d, err))
		}
	}
	all, err := p.gather(ctx, "Read of "+p.text(from), mine)
	if err != nil {
		return err
	}
	for _, o := range parts {
		rank := p.rank.layout.Devices[o.device].Rank
		n := copy(data[o.lo-from.Lo:o.hi-from.Lo], all[rank])
		all[rank] = all[rank][n:]
	}
	return nil
}

// local returns a device of this rank that holds the bytes, if each rank has one, and -1 otherwise. All ranks come to the
// same result, since it follows from the plan.
func (p *Plan) local(from ir.Range) int {
	if p.steps == 0 {
		return -1
	}
	for _, h := range p.held()[from.Buffer] {
		if h.Lo < from.Hi && from.Lo < h.Hi && !h.All {
			return -1
		}
	}
	mine, found := -1, int32(-1) // the last rank that has such a device
	for d, dev := range p.rank.layout.Devices {
		part := p.plan.Memory[d][from.Buffer]
		if from.Lo < part.Lo || part.Hi < from.Hi || dev.Rank == found {
			continue
		}
		if dev.Rank != found+1 {
			return -1
		}
		found = dev.Rank
		if int(found) == p.rank.Number() {
			mine = d - int(p.rank.first)
		}
	}
	if int(found)+1 < p.rank.Size() {
		return -1
	}
	return mine
}

// owner is bytes that are read from a device.
type owner struct {
	lo, hi int64
	device int32
}

// owners returns which device each byte is read from. Bytes that no device has loaded are left out: they have the contents
// that the program has set. Before the first step, these are all bytes.
func (p *Plan) owners(from ir.Range) (list []owner) {
	if p.steps == 0 {
		return nil
	}
	for _, h := range p.held()[from.Buffer] {
		lo, hi := max(h.Lo, from.Lo), min(h.Hi, from.Hi)
		if lo >= hi || !h.All && len(h.Devices) == 0 {
			continue
		}
		if !h.All {
			list = append(list, owner{lo, hi, h.Devices[0]})
			continue
		}
		for d := range p.plan.Memory { // the parts of devices may overlap
			s := p.plan.Memory[d][from.Buffer]
			if l, u := max(lo, s.Lo), min(hi, s.Hi); l < u {
				list = append(list, owner{l, u, int32(d)})
				lo = u
			}
		}
	}
	return list
}

// outside returns the bytes of a range that no device holds.
func outside(from ir.Range, owners []owner) spans {
	var held []distribute.Span
	for _, o := range owners {
		held = append(held, distribute.Span{Lo: o.lo, Hi: o.hi})
	}
	return spans{{Lo: from.Lo, Hi: from.Hi}}.minus(union(held))
}
