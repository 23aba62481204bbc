package sharing

import (
	"fmt"
	"time"
)

// Slices is the default sharing of several processes: the contexts have the device in turn, each for a slice of time.
// A context that has no more work ends its slice. A change of contexts takes time, during which nothing runs.
//
// A device interrupts kernels at the end of a slice. Here units end by themselves, so kernels are cut into units
// of at most a slice, and a unit that would not end in its slice is not begun, unless it is the first.
type Slices struct {
	Slice  time.Duration
	Switch time.Duration

	now  *Program
	end  time.Duration // of the slice
	from time.Duration // the change has ended
}

// Name implements Policy.
func (s *Slices) Name() string { return fmt.Sprintf("timeslice:%v", s.Slice) }

// Form implements Policy.
func (s *Slices) Form() Form { return Form{Unit: Kernels, Most: s.Slice} }

// depth is the number of units that a context has in flight, so that the device does not wait for the host.
const sliceDepth = 4

// Next implements Policy.
func (s *Slices) Next(c *Core, now time.Duration) (Grant, time.Duration) {
	if s.now == nil || s.over(now) {
		if c.flying > 0 {
			return Grant{}, never
		}
		if !s.change(c, now) {
			return Grant{}, never
		}
	}
	if now < s.from {
		return Grant{}, s.from
	}
	if s.now.ready() && len(s.now.flying) < sliceDepth {
		return s.now.one(), never
	}
	return Grant{}, never
}

// over reports whether the program that has the device begins no more units in its slice.
func (s *Slices) over(now time.Duration) bool {
	p := s.now
	if now < s.from {
		return false
	}
	if !p.ready() {
		return len(p.flying) == 0
	}
	begin := max(now, p.end)
	return begin > s.from && begin+p.head().Time > s.end
}

// change gives the device to the next program with work, in turn. It reports whether there is one.
func (s *Slices) change(c *Core, now time.Duration) bool {
	first := 0
	for i, p := range c.programs {
		if p == s.now {
			first = i + 1
		}
	}
	for i := range c.programs {
		p := c.programs[(first+i)%len(c.programs)]
		if !p.ready() {
			continue
		}
		s.from = now
		if p != s.now && s.now != nil {
			s.from += s.Switch
		}
		s.now, s.end = p, s.from+s.Slice
		return true
	}
	return false
}
