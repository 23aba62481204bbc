package distribute

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/box"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/ir"
)

// Options select how a program is distributed. The zero value is the default.
type Options struct {
	Overlap Overlap
	// Tiles cuts launches along two axes where their grids have them, so that a device has a tile of a matrix instead of rows.
	Tiles bool
}

// Overlap selects the launches whose edge is run first, so that its transfers run beside the interior, and the launches of few blocks
// that run beside later ones.
type Overlap uint8

const (
	OverlapLong Overlap = iota // launches that are predicted to take longer than the additional launches, and those between two other ranks
	OverlapAll                 // all launches of which other devices need a part, or whose results no operation accesses
	OverlapNone
)

// LayoutOf returns the layout of a machine.
func LayoutOf(m *machine.Machine) *Layout {
	l := &Layout{}
	var local []int32 // by device: its number in its rank
	for r := range m.Ranks {
		l.Host = append(l.Host, m.Ranks[r].Host)
		for i, d := range m.Ranks[r].Devices {
			p := d.Profile
			weight := d.Weight
			if weight == 0 {
				weight = p.MemoryGBps
			}
			l.Devices = append(l.Devices, Device{Rank: int32(r), Weight: weight, Memory: d.Memory, SMs: p.SMs, GBps: p.MemoryGBps})
			local = append(local, int32(i))
		}
	}
	l.Peers = func(a, b int32) bool {
		return m.Ranks[l.Devices[a].Rank].Path(int(local[a]), int(local[b])) != nil
	}
	return l
}

// New distributes a program. The error names the first operation that cannot be distributed, or is a *MemoryError for a device
// with too little memory.
func New(g *ir.Graph, l *Layout, o Options) (*Plan, error) {
	s := newSplitter(g, l, o.Tiles)
	s.privatise()
	decisions, err := s.decide()
	if err != nil {
		return nil, err
	}
	s.setAside(decisions, o.Overlap)
	p := &Plan{Graph: s.g, Layout: l, Decisions: decisions, Shapes: s.shapes.Shapes()}
	p.Frames = p.frames()
	scan, err := p.scan()
	if err != nil {
		return nil, err
	}
	if s.edges(p, scan.sent, o.Overlap) {
		p.Shapes, p.Frames = s.shapes.Shapes(), nil
		p.Frames = p.frames()
		if _, err = p.scan(); err != nil {
			return nil, err
		}
	}
	p.allocate()
	p.pack()
	if err := p.fits(); err != nil {
		return nil, err
	}
	addWaits(p)
	return p, nil
}

// maxRounds is the largest number of different steps.
const maxRounds = 64

// scan sets the rounds: it simulates steps until the state before a step equals that before an earlier one.
func (p *Plan) scan() (*scanner, error) {
	s := newScanner(p)
	p.Rounds = nil
	var patterns [][]Pattern // by round
	var before [][]fresh     // by round: the state before it
	for len(before) < maxRounds {
		if i := slices.IndexFunc(before, func(f []fresh) bool { return slices.EqualFunc(f, s.state, fresh.equal) }); i >= 0 {
			p.Repeat = i
			p.Patterns = merged(patterns[i:])
			return s, nil
		}
		before = append(before, clone(s.state))
		pulls := s.step()
		patterns = append(patterns, shapes(pulls))
		round := emit(p, pulls)
		for _, f := range s.state {
			round.Fresh = append(round.Fresh, slices.Clone(f))
		}
		p.Rounds = append(p.Rounds, round)
	}
	return nil, fmt.Errorf("distribute: the transfers of %s do not repeat within %d steps: trace a step that leaves the same parts of its buffers on each device", p.Graph.Name, maxRounds)
}

func clone(state []fresh) (list []fresh) {
	for _, f := range state {
		list = append(list, slices.Clone(f))
	}
	return list
}

// allocate sets the memory of each device: for each buffer the hull of what its chunks access.
func (p *Plan) allocate() {
	p.Memory = make([][]Span, len(p.Layout.Devices))
	for d := range p.Memory {
		p.Memory[d] = make([]Span, len(p.Graph.Buffers))
	}
	for v := range p.Decisions {
		for i := range p.Decisions[v].Chunks {
			c := &p.Decisions[v].Chunks[i]
			for _, a := range c.Accesses {
				p.Memory[c.Device][a.Buffer].include(a.Lo, a.Hi)
			}
		}
	}
}

// include extends the span so that it contains [lo, hi).
func (s *Span) include(lo, hi int64) {
	switch {
	case lo >= hi:
	case s.Lo == s.Hi:
		*s = Span{lo, hi}
	default:
		*s = Span{min(s.Lo, lo), max(s.Hi, hi)}
	}
}

// Bytes returns the bytes that a device needs.
func (p *Plan) Bytes(device int) (sum int64) {
	for _, s := range p.Memory[device] {
		sum += s.Hi - s.Lo
	}
	for _, bytes := range p.Scratch[device] {
		sum += bytes
	}
	return sum
}

// pack sets the memory in which devices pack the rows of transfers with strides: as much as the largest transfer between the device
// and staging memory needs.
func (p *Plan) pack() {
	p.Scratch = make([][Lanes]int64, len(p.Layout.Devices))
	if p.Frames == nil {
		return
	}
	for r := range p.Rounds {
		for i := range p.Rounds[r].Ops {
			op := &p.Rounds[r].Ops[i]
			if (op.Kind == Out || op.Kind == In) && p.Strided(op) {
				bytes := &p.Scratch[op.Device][p.Lane(op)]
				*bytes = max(*bytes, op.Bytes.Hi-op.Bytes.Lo)
			}
		}
	}
}

// Strided reports whether a transfer moves rows with a stride.
func (p *Plan) Strided(op *Op) bool {
	f := p.Frame(op.Bytes.Buffer)
	return f != nil && slices.ContainsFunc(f.Boxes(op.Bytes.Lo, op.Bytes.Hi), func(b box.Box) bool { return !b.Contiguous() })
}
