package ir

// PrintSchedule returns the text of s, which follows that of its graph in a file. A table with the default
// for every operation prints like a nil one: priorities of 0, and no operation joined or delayed.
func PrintSchedule(s *Schedule) string {
	if s == nil || s.Graph == nil {
		return ""
	}
	p := printer{g: s.Graph}
	p.schedule(s)
	return string(p.buf)
}

func (p *printer) schedule(s *Schedule) {
	p.text("schedule ")
	p.scheduleHeader(s)
	p.text(" {\n")
	for _, v := range s.Order {
		p.turn(s, v)
	}
	p.arena(s)
	p.segments(s)
	p.text("}\n")
}

// scheduleHeader prints the strategy and the attributes of a schedule.
func (p *printer) scheduleHeader(s *Schedule) {
	p.name(s.Strategy)
	p.text(" lanes(")
	p.int(int64(s.Lanes))
	p.text(")")
	if s.Profile != "" {
		p.text(" profile(")
		p.quote(s.Profile)
		p.text(")")
	}
	if s.Predicted != 0 {
		p.text(" predicted(")
		p.int(s.Predicted)
		p.text("ns)")
	}
}

// turn prints the line of an operation in a schedule. Delays are not printed among the waits: the parser
// merges them.
func (p *printer) turn(s *Schedule, v OpID) {
	p.text(p.pad)
	p.text("  ")
	p.id(v)
	p.text(" lane(")
	p.int(int64(s.Lane[v]))
	p.text(")")
	if needed := s.needed(v); len(needed) > 0 {
		p.text(" wait")
		list(p, needed, p.id)
	}
	if s.Delays != nil && len(s.Delays[v]) > 0 {
		p.text(" delay")
		list(p, s.Delays[v], p.id)
	}
	if s.Joined != nil && s.Joined[v] {
		p.text(" joined")
	}
	if s.Priority != nil && s.Priority[v] != 0 {
		p.text(" priority(")
		p.int(int64(s.Priority[v]))
		p.text(")")
	}
	for _, body := range s.Bodies[v] {
		p.scheduledBody(body)
	}
	p.text("\n")
}

// scheduledBody prints the schedule of a body behind the turn of its operation.
func (p *printer) scheduledBody(s *Schedule) {
	outer, pad := p.g, p.pad
	p.g, p.pad = s.Graph, pad+"  "
	p.text(" body ")
	p.scheduleHeader(s)
	p.text(" {\n")
	for _, v := range s.Order {
		p.turn(s, v)
	}
	p.g, p.pad = outer, pad
	p.text(pad + "  }")
}

// arena prints the offsets of the buffers that are in the arena.
func (p *printer) arena(s *Schedule) {
	if s.Offset == nil {
		return
	}
	p.text("  arena {\n")
	for b, off := range s.Offset {
		if off < 0 {
			continue
		}
		p.text("    ")
		p.buffer(BufferID(b))
		p.text(" at ")
		p.int(off)
		p.text("\n")
	}
	p.text("  }\n")
}

// segments prints the pieces of each granularity. A piece is named by its last operation.
func (p *printer) segments(s *Schedule) {
	for _, level := range s.Segments {
		p.text("  segments limit(")
		p.int(level.Limit)
		p.text("ns) {\n")
		for _, piece := range level.Pieces {
			p.text("    ")
			p.id(s.Order[piece.End-1])
			p.text(" predicted(")
			p.int(piece.Predicted)
			p.text("ns)")
			if piece.Bound != "" {
				p.text(" bound(")
				p.text(piece.Bound)
				p.text(")")
			}
			if piece.Oversize != "" {
				p.text(" oversize(")
				p.quote(piece.Oversize)
				p.text(")")
			}
			p.text("\n")
		}
		p.text("  }\n")
	}
}
