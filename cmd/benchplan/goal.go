package main

import (
	"errors"
	"fmt"
	"time"
)

// goal bounds the cost of planning a program of the given number of launches.
type goal struct {
	ops    int
	total  time.Duration
	peakMB float64
}

// missed returns an error for each bound of the shape's goal that a measurement exceeds, or nil. It returns nil for
// measurements of other sizes than the goal's.
func (s *shape) missed(m *measurement) error {
	g := s.goal
	if g == nil || m.Ops != g.ops {
		return nil
	}
	var missed []error
	if m.total() > g.total {
		missed = append(missed, fmt.Errorf("%s of %d launches takes %v from trace to schedule, and the goal is %v", s.name, m.Ops, rounded(m.total()), g.total))
	}
	if m.PeakMB > g.peakMB {
		missed = append(missed, fmt.Errorf("%s of %d launches peaks at %.0f MB, and the goal is %.0f", s.name, m.Ops, m.PeakMB, g.peakMB))
	}
	return errors.Join(missed...)
}
