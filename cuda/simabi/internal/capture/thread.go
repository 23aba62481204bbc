package capture

import "slices"

// Unsafe returns an error if captures prohibit a thread's potentially unsafe call,
// and invalidates them.
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

// Idle returns an error if the host cannot wait for all streams of an owner,
// because one is captured. It invalidates these captures.
func (s *Session) Idle(owner any) (err error) {
	for _, c := range s.captures {
		if i := slices.IndexFunc(c.streams, func(st *Stream) bool { return st.Owner == owner }); i >= 0 {
			err = c.streams[i].Refuse()
		}
	}
	return err
}

// Implicit returns the capture that the use of a legacy stream would join, or nil:
// the stream is ordered with the blocking streams of its owner.
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

// Use returns an error if a stream cannot be used, and invalidates the capture that
// prevents it.
func (s *Session) Use(st *Stream) error {
	c := s.Implicit(st)
	if c == nil {
		return nil
	}
	c.invalid = true
	return c.Implies()
}

// Implies returns the error of a legacy stream that the capture makes unusable.
func (c *Capture) Implies() error {
	return refuse(Implicit, "the legacy default stream would wait for a blocking stream that is in capture %d; use a stream of its own", c.ID)
}
