package sharing

import (
	"fmt"
	"time"
)

// Streams is the default sharing of programs of one process, with a stream for each: the device's queues decide.
// Each program keeps Depth kernels in flight.
type Streams struct {
	Depth    int
	Priority bool // streams have priorities
}

// Name implements Policy.
func (s *Streams) Name() string {
	if s.Priority {
		return "priority"
	}
	return fmt.Sprintf("fifo:%d", s.Depth)
}

// Form implements Policy.
func (s *Streams) Form() Form { return Form{Unit: Kernels, Priorities: s.Priority} }

// Next implements Policy.
func (s *Streams) Next(c *Core, _ time.Duration) (Grant, time.Duration) {
	for _, p := range c.programs {
		if p.ready() && len(p.flying) < s.Depth {
			return p.one(), never
		}
	}
	return Grant{}, never
}
