package capture

import "slices"

// Unsafe says why a thread may not make a potentially unsafe call now. The captures
// that prohibit it are invalid then.
func (s *Session) Unsafe(t *Thread) error {
	var by *Capture
	for _, c := range s.captures {
		if c.prohibits(t) {
			by, c.invalid = c, true
		}
	}
	if by == nil {
		return nil
	}
	return refuse(Unsupported, "capture %d prohibits the call, which may wait for work; make it before, or capture in another mode", by.ID)
}

func (c *Capture) prohibits(t *Thread) bool {
	switch {
	case t.Mode == Relaxed || c.mode == Relaxed:
		return false
	case c.thread == t:
		return true
	}
	return t.Mode == Global && c.mode == Global
}

// Idle says why the host cannot wait for all streams of an owner: a captured one has
// nothing to wait for. The captures are invalid then.
func (s *Session) Idle(owner any) (err error) {
	for _, c := range s.captures {
		if i := slices.IndexFunc(c.streams, func(st *Stream) bool { return st.Owner == owner }); i >= 0 {
			err = c.streams[i].Refuse()
		}
	}
	return err
}

// Implicit is the capture, if there is one, that a legacy stream would become part of
// if it were used: it is ordered with the blocking streams of its owner.
func (s *Session) Implicit(st *Stream) *Capture {
	if !st.Legacy {
		return nil
	}
	for _, c := range s.captures {
		for _, b := range c.streams {
			if b.Blocking && b.Owner == st.Owner {
				return c
			}
		}
	}
	return nil
}

// Use says why a stream cannot be used now, and invalidates the capture that keeps it
// from that.
func (s *Session) Use(st *Stream) error {
	c := s.Implicit(st)
	if c == nil {
		return nil
	}
	c.invalid = true
	return c.Implies()
}

// Implies is what a legacy stream answers while the capture makes it unusable.
func (c *Capture) Implies() error {
	return refuse(Implicit, "the legacy default stream would wait for a blocking stream that is in capture %d; use a stream of its own", c.ID)
}
