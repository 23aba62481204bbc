package ir

import "strings"

var scheduleAttributes = []string{"lanes", "profile", "predicted"}
var turnAttributes = []string{"lane", "wait", "priority", "joined", "delay", "body"}

// schedule reads a schedule of the graph above it.
func (p *parser) schedule(at int) {
	switch {
	case p.sched != nil:
		p.fail(at, "a second schedule: a file holds one")
	case p.g == nil:
		p.fail(at, "the schedule comes before its graph: write the graph first")
	}
	if p.failed {
		p.pos = len(p.src)
		return
	}
	s := p.newSchedule()
	p.sched = s
	p.scheduleHeader(s)
	p.block(func() { p.scheduleStatement(s) })
}

// newSchedule reads the strategy of a schedule of p.g and returns the schedule, without turns.
func (p *parser) newSchedule() *Schedule {
	n := len(p.g.Ops)
	p.skip()
	s := &Schedule{Graph: p.g, Strategy: p.name("a name for the strategy", &dottedBytes)}
	s.Lane, s.Waits = make([]LaneID, n), make([][]OpID, n)
	p.turnAt = make([]int, n)
	for v := range p.turnAt {
		p.turnAt[v] = -1
	}
	return s
}

// scheduleHeader reads lanes(4) profile("a100") predicted(1500ns).
func (p *parser) scheduleHeader(s *Schedule) {
	seen := 0
	for c := p.peek(); c != '{' && c != '\n' && c != 0; c = p.peek() {
		i := p.once("an attribute of a schedule", scheduleAttributes, &seen)
		p.open('(')
		switch i {
		case 0:
			s.Lanes = int(p.natural(31))
		case 1:
			s.Profile = p.quoted()
		case 2:
			s.Predicted = p.duration()
		}
		p.close(')')
	}
	if seen&1 == 0 {
		p.fail(p.pos, "a schedule needs lanes(...)")
	}
}

// scheduleStatement reads the turn of an operation, arena { ... } or segments limit(...) { ... }.
func (p *parser) scheduleStatement(s *Schedule) {
	if p.peek() == '%' {
		p.turn(s)
		return
	}
	at := p.pos
	if p.choose("a statement of a schedule", []string{"arena", "segments"}) == 1 {
		p.segments(s)
		return
	}
	if s.Offset != nil {
		p.fail(at, "a second arena: a schedule has one")
	}
	s.Offset = make([]int64, len(p.g.Buffers))
	for b := range s.Offset {
		s.Offset[b] = -1
	}
	p.block(func() { p.placement(s) })
}

// turn reads %2 lane(1) wait(%0) delay(%1) joined priority(-1).
func (p *parser) turn(s *Schedule) {
	at := p.pos
	v := p.knownOp()
	if p.failed {
		return
	}
	if p.turnAt[v] >= 0 {
		p.fail(at, "%v is scheduled twice", v)
	}
	p.turnAt[v] = at
	s.Order = append(s.Order, v)
	seen := 0
	for c := p.peek(); c != '\n' && c != '}' && c != 0; c = p.peek() {
		switch p.once("an attribute of a scheduled operation", turnAttributes, &seen) {
		case 0:
			p.open('(')
			s.Lane[v] = LaneID(p.natural(31))
			p.close(')')
		case 1:
			s.Waits[v] = p.opList()
		case 2:
			p.open('(')
			p.priority(s, v)
			p.close(')')
		case 3:
			if s.Joined == nil {
				s.Joined = make([]bool, len(p.g.Ops))
			}
			s.Joined[v] = true
		case 4:
			if s.Delays == nil {
				s.Delays = make([][]OpID, len(p.g.Ops))
			}
			s.Delays[v] = p.opList()
		case 5:
			seen &^= 1 << 5 // may be given again: a branch has two bodies
			p.scheduledBody(s, v)
		}
	}
	if s.Delays != nil && len(s.Delays[v]) > 0 {
		s.Waits[v] = merged(s.Waits[v], s.Delays[v])
	}
	if seen&1 == 0 {
		p.fail(p.pos, "%v needs lane(...)", v)
	}
}

// once reads one of the words and returns its index. A word that was read before is a mistake; seen has a bit
// for each of those.
func (p *parser) once(what string, words []string, seen *int) int {
	at := p.pos
	i := p.choose(what, words)
	if *seen&(1<<i) != 0 {
		p.fail(at, "%s is given twice", words[i])
	}
	*seen |= 1 << i
	return i
}

// opList reads (%0, %1).
func (p *parser) opList() []OpID {
	p.someIDs = p.someIDs[:0]
	p.list(func() { p.someIDs = append(p.someIDs, p.knownOp()) })
	return p.ids.keep(p.someIDs)
}

// merged merges two ascending lists into an ascending one. It does not sort: a list that is out of order in
// the text gives a result out of order, which VerifySchedule reports.
func merged(a, b []OpID) []OpID {
	all := make([]OpID, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] <= b[0] {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// priority reads the number in priority(-1). The table stays nil if all priorities are 0.
func (p *parser) priority(s *Schedule, v OpID) {
	i := int32(p.integer(32))
	if i == 0 {
		return
	}
	if s.Priority == nil {
		s.Priority = make([]int32, len(p.g.Ops))
	}
	s.Priority[v] = i
}

// placement reads @x at 0.
func (p *parser) placement(s *Schedule) {
	p.sigil(&p.buffers)
	b := p.refer(&p.buffers, &dottedBytes)
	p.choose("at, as in @x at 0", []string{"at"})
	off := p.natural(63)
	if !p.failed {
		s.Offset[b] = int64(off)
	}
}

// sections assigns the sections of the file to the modules, as their sources. A section without a module is a
// mistake, because it would be lost when the graph is written again.
func (p *parser) sections(src string, sections []section) {
	at := len(p.src)
	for _, sec := range sections {
		line := nextMarker(src, at)
		at = line + len(sec.Name) + len(sec.Data)
		used := false
		for i := range p.g.Modules {
			m := &p.g.Modules[i]
			if m.File != sec.Name {
				continue
			}
			if m.Source != "" {
				p.report(line, "section %q appears twice", sec.Name)
			}
			m.Source, used = string(sec.Data), true
		}
		used = p.unpack(sec, line) || used
		if !used {
			p.report(line, "section %q belongs to no module: declare module name %q in the graph", sec.Name, sec.Name)
		}
	}
}

// nextMarker returns the offset of the first section marker at or behind byte at, as the place of an error.
func nextMarker(src string, at int) int {
	if at == 0 {
		return 0 // the file starts with a section
	}
	return at + max(0, strings.Index(src[at-1:], "\n-- "))
}
