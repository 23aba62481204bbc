package distribute

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// edges cuts chunks of which other devices need a part into the edges, which contain these parts, and the interior. It
// returns false if no chunk was cut.
//
//	layers of a chunk   0 1 2 3 4 5 6 7          sent to a neighbour: what layer 0 and layer 7 write
//	                    ├─┼───────────┼─┤
//	                    edge interior  edge      the edges are submitted first
func (s *splitter) edges(p *Plan, sent map[sender][]ir.Range, o Overlap) (cut bool) {
	list := p.Decisions
	if o == OverlapNone {
		return false
	}
	for v := range list {
		d := &list[v]
		op := &s.g.Ops[v]
		if d.How != Split || op.Kind != ir.KindLaunch || d.Across > 0 {
			continue
		}
		x := s.reach.launch(op)
		x.private = d.Private
		var chunks []Chunk
		for _, c := range d.Chunks {
			parts := []Chunk{c}
			needed := sent[sender{ir.OpID(v), c.Device}]
			long := o == OverlapAll || s.long(&c)
			if len(needed) > 0 && (long || s.alone(c.Device)) {
				parts = s.divide(p, x, d.Axis, c, needed)
			}
			if !long && len(parts) < 3 { // a single edge has no other beside which it runs
				parts = []Chunk{c}
			}
			cut = cut || len(parts) > 1
			chunks = append(chunks, parts...)
		}
		d.Chunks = chunks
	}
	return cut
}

// worthwhile is the predicted duration of a chunk, in seconds, from which on its edges are launches of their own: the time to move
// its bytes. For the wave equation and Jacobi's method on four H200, overlap gains from 1.7 us on and loses at 0.7 us between peers.
const worthwhile = 1.5e-6

// alone reports whether a device is the only one of its rank. Two edges of its chunks are worthwhile however short these are: what
// one neighbour has sent is copied to the device and what the other one needs is copied from it beside the other edge. The wave
// equation of 512 x 512 gains 10 % on four such devices.
func (s *splitter) alone(device int32) bool {
	lo, hi := s.layout.local(s.layout.Devices[device].Rank)
	return hi-lo == 1
}

// long reports whether a chunk takes long enough for edges: whether moving its bytes does.
func (s *splitter) long(c *Chunk) bool {
	bytes := int64(0)
	for _, a := range c.Accesses {
		bytes += a.Hi - a.Lo
	}
	return float64(bytes) >= worthwhile*s.layout.Devices[c.Device].GBps*1e9
}

// divide cuts a chunk into edges and interior along the axis of its launch. It returns the chunk if the edges would be
// more than a quarter of it.
func (s *splitter) divide(p *Plan, x *launch, axis int, c Chunk, needed []ir.Range) []Chunk {
	writes := func(c Chunk) bool { return s.writes(p, &c, needed) }
	inner := int64(1)
	for a := range axis {
		inner *= int64(x.whole.Grid[a])
	}
	lo, hi := c.First/inner, (c.First+c.Count)/inner
	part := func(lo, hi int64) Chunk {
		return Chunk{Device: c.Device, First: lo * inner, Count: (hi - lo) * inner, Accesses: x.accesses(layers(x.whole.Grid, axis, lo, hi), c.Device)}
	}
	limit := (hi - lo) / 8
	front, back := lo, hi
	for front < hi && front-lo <= limit && writes(part(front, front+1)) {
		front++
	}
	for back > front && hi-back <= limit && writes(part(back-1, back)) {
		back--
	}
	if front-lo > limit || hi-back > limit || front == lo && back == hi {
		return []Chunk{c}
	}
	interior := part(front, back)
	if writes(interior) {
		return []Chunk{c}
	}
	var list []Chunk
	if front > lo {
		list = append(list, part(lo, front))
	}
	if back < hi {
		list = append(list, part(back, hi))
		list[len(list)-1].Back = true
	}
	for i := range list {
		list[i].Edge = true
	}
	return append(list, interior)
}

// writes reports whether a chunk may write some of the places.
func (s *splitter) writes(p *Plan, c *Chunk, needed []ir.Range) bool {
	return slices.ContainsFunc(c.Accesses, func(a ir.Access) bool {
		return a.Mode.Writes() && slices.ContainsFunc(needed, func(r ir.Range) bool { return s.meets(p, a, r) })
	})
}

// meets reports whether an access has bytes in a range of places.
func (s *splitter) meets(p *Plan, a ir.Access, r ir.Range) bool {
	return a.Buffer == r.Buffer && slices.ContainsFunc(p.Frame(r.Buffer).Boxes(r.Lo, r.Hi), s.box(a).Overlaps)
}
