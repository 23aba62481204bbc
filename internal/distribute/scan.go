package distribute

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// scanner simulates the steps of a program and finds the transfers that they need.
type scanner struct {
	plan      *Plan
	g         *ir.Graph
	layout    *Layout
	decisions []Decision
	state     []fresh // by buffer
	sent      map[sender][]ir.Range
	copies    map[ir.BufferID]ir.BufferID // by buffer of private copies: the buffer that they stand for
}

// sender is an operation on a device; scanner.sent has the bytes that it writes and other devices need.
type sender struct {
	op     ir.OpID
	device int32
}

// pull is the transfers that must end before an operation.
type pull struct {
	moves    []move
	gathers  []gather
	patterns []Pattern
}

// move is bytes that one device needs.
type move struct {
	ir.Range
	from, to int32   // devices; from is -1 for the initial contents
	made     ir.OpID // the operation of this step that wrote them; -1 if it was an earlier step
}

// gather is bytes that all devices need and that several devices hold.
type gather struct {
	ir.Range
	pieces []move // ascending, one for each holder; to is not used
	needs  []move // by device, then offset: the pieces that it lacks
	made   ir.OpID
}

// need is bytes that an operation accesses on a device.
type need struct {
	ir.Range
	device int32
}

func newScanner(p *Plan) *scanner {
	g, decisions := p.Graph, p.Decisions
	s := &scanner{plan: p, g: g, layout: p.Layout, decisions: decisions, sent: map[sender][]ir.Range{}, copies: map[ir.BufferID]ir.BufferID{}}
	for v := range decisions {
		for _, p := range decisions[v].Private {
			s.copies[p.Copies] = g.Ops[v].Launch.Args[p.Arg].Buffer
		}
	}
	for b := range g.Buffers {
		s.state = append(s.state, newFresh(&g.Buffers[b], p.Frame(ir.BufferID(b))))
	}
	return s
}

// step simulates one step and returns the transfers before each operation.
func (s *scanner) step() []pull {
	for b := range s.g.Buffers {
		if s.g.Buffers[b].Role == ir.Temporary {
			s.state[b] = newFresh(&s.g.Buffers[b], s.plan.Frame(ir.BufferID(b)))
		}
	}
	pulls := make([]pull, len(s.decisions))
	for v := range s.decisions {
		for _, group := range s.needs(ir.OpID(v)) {
			gathers, moves := len(pulls[v].gathers), len(pulls[v].moves)
			s.fetch(&pulls[v], group)
			s.pattern(&pulls[v], ir.OpID(v), group, gathers, moves)
		}
		s.write(ir.OpID(v))
	}
	for b := range s.state {
		s.state[b].settle()
	}
	return pulls
}

// needs returns the bytes that the chunks of an operation access, by buffer. Those of a buffer are ordered by device, then
// offset, and do not overlap on a device. Bytes that are written count: a chunk may leave some of them unchanged.
func (s *scanner) needs(v ir.OpID) (groups [][]need) {
	var list []need
	d := &s.decisions[v]
	for i := range d.Chunks {
		for _, a := range d.Chunks[i].Accesses {
			if a.Empty() {
				continue
			}
			for _, p := range s.plan.places(a) {
				list = append(list, need{ir.Range{Buffer: a.Buffer, Lo: p.Lo, Hi: p.Hi}, d.Chunks[i].Device})
			}
		}
	}
	slices.SortFunc(list, func(a, b need) int {
		return cmp.Or(cmp.Compare(a.Buffer, b.Buffer), cmp.Compare(a.device, b.device), cmp.Compare(a.Lo, b.Lo))
	})
	for _, n := range list {
		if len(groups) == 0 || groups[len(groups)-1][0].Buffer != n.Buffer {
			groups = append(groups, nil)
		}
		group := &groups[len(groups)-1]
		if last := len(*group) - 1; last >= 0 && (*group)[last].device == n.device && n.Lo < (*group)[last].Hi {
			(*group)[last].Hi = max((*group)[last].Hi, n.Hi)
			continue
		}
		*group = append(*group, n)
	}
	return groups
}

// fetch adds the transfers that the needs of one buffer require to p.
func (s *scanner) fetch(p *pull, needs []need) {
	common := s.common(needs)
	if !common.Empty() {
		s.gather(p, common)
	}
	var moves []move
	state := &s.state[needs[0].Buffer]
	for _, n := range needs {
		if n.Range == common {
			continue // it was gathered
		}
		for _, h := range state.cut(n.Lo, n.Hi) {
			if !h.On(n.device) {
				moves = extend(moves, s.supply(&h, n.Buffer, n.device))
			}
		}
	}
	for _, m := range moves { // only now, so that no move has a source that another move of this operation fills
		held := state.cut(m.Lo, m.Hi)
		for i := range held {
			held[i].add(m.to)
		}
	}
	p.moves = append(p.moves, moves...)
}

// supply returns the move of bytes to a device from the host if they are initial contents, else from a device of the same
// rank that holds them, else from the device that wrote them.
func (s *scanner) supply(h *Held, b ir.BufferID, to int32) move {
	m := move{Range: ir.Range{Buffer: b, Lo: h.Lo, Hi: h.Hi}, from: -1, to: to, made: -1}
	if h.Origin {
		return m
	}
	m.from = h.Devices[0]
	rank := s.layout.Devices[to].Rank
	if i := slices.IndexFunc(h.Devices, func(d int32) bool { return s.layout.Devices[d].Rank == rank }); i >= 0 {
		m.from = h.Devices[i]
	}
	s.note(h, b)
	if h.now {
		m.made = h.writer
	}
	return m
}

// note records that other devices need bytes that a device has written.
func (s *scanner) note(h *Held, b ir.BufferID) {
	at := sender{h.writer, h.Devices[0]}
	list := s.sent[at]
	r := ir.Range{Buffer: b, Lo: h.Lo, Hi: h.Hi}
	if !slices.Contains(list, r) {
		s.sent[at] = append(list, r)
	}
}

// extend appends a move, or lengthens the last one if both are of adjacent bytes between the same devices.
func extend(list []move, m move) []move {
	if n := len(list) - 1; n >= 0 && list[n].from == m.from && list[n].to == m.to && list[n].Buffer == m.Buffer && list[n].Hi == m.Lo {
		list[n].Hi, list[n].made = m.Hi, max(list[n].made, m.made)
		return list
	}
	return append(list, m)
}

// common returns bytes that every device needs, or an empty range. With two devices, moves do the same.
func (s *scanner) common(needs []need) ir.Range {
	devices := len(s.layout.Devices)
	if devices < 3 {
		return ir.Range{}
	}
	for _, first := range needs {
		if first.device != needs[0].device {
			break
		}
		count := 0
		for _, n := range needs {
			if n.Range == first.Range {
				count++
			}
		}
		if count == devices {
			return first.Range
		}
	}
	return ir.Range{}
}

// gather adds the transfers that give all devices the bytes r to p.
func (s *scanner) gather(p *pull, r ir.Range) {
	g := gather{Range: r, made: -1}
	extend := extend
	if s.plan.Frame(r.Buffer) != nil { // what is copied to staging memory must be copied from there in the same pieces
		extend = func(list []move, m move) []move { return append(list, m) }
	}
	held := s.partial(r)
	for _, h := range held {
		if h.Origin {
			continue
		}
		m := s.supply(h, r.Buffer, h.first())
		g.pieces = extend(g.pieces, m)
		g.made = max(g.made, m.made)
	}
	for d := range s.layout.Devices {
		to := int32(d)
		var loads []move
		for _, h := range held {
			m := move{Range: ir.Range{Buffer: r.Buffer, Lo: h.Lo, Hi: h.Hi}, from: -1, to: to, made: -1}
			switch {
			case h.On(to):
			case h.Origin:
				loads = extend(loads, m)
			default:
				m.from = h.Devices[0]
				g.needs = extend(g.needs, m)
			}
		}
		p.moves = append(p.moves, loads...)
	}
	for _, h := range held {
		h.All, h.Devices = true, nil
	}
	if len(g.pieces) > 0 {
		p.gathers = append(p.gathers, g)
	}
}

// partial returns the ranges of r that some devices lack.
func (s *scanner) partial(r ir.Range) (list []*Held) {
	held := s.state[r.Buffer].cut(r.Lo, r.Hi)
	for i := range held {
		if !held[i].All {
			list = append(list, &held[i])
		}
	}
	return list
}

// first returns the first device that holds the bytes, 0 if they are the initial contents.
func (h *Held) first() int32 {
	if len(h.Devices) == 0 {
		return 0
	}
	return h.Devices[0]
}

// write records what operation v writes.
func (s *scanner) write(v ir.OpID) {
	d := &s.decisions[v]
	for i := range d.Chunks {
		c := &d.Chunks[i]
		on := c.Device
		if d.How == Replicated {
			on = -1
		}
		for _, a := range c.Accesses {
			if !a.Mode.Writes() || a.Empty() {
				continue
			}
			for _, p := range s.plan.places(a) {
				s.state[a.Buffer].write(p.Lo, p.Hi, on, v)
			}
		}
		if d.How == Replicated {
			break
		}
	}
}
