package why

import (
	"fmt"

	"github.com/reprise-gpu/reprise/ir"
)

// Lane is the operations of a lane in order.
type Lane struct {
	Lane       int      `json:"lane"`
	Operations []OnLane `json:"operations"`
}

// OnLane is an operation of a lane.
type OnLane struct {
	Ref
	Behind string   `json:"behind"` // kind of the edge from the operation before it; "" for the first
	Waits  []string `json:"waits"`  // on other lanes, with delays
	Time   *Time    `json:"time,omitempty"`
}

// Lane explains a lane of the program.
func (p *Plan) Lane(n int) (*Lane, error) {
	c := p.scopes[0]
	if n < 0 || n >= len(c.lanes) {
		if len(c.lanes) == 0 {
			return nil, fmt.Errorf("the plan has no lane %d: the program has no operations", n)
		}
		return nil, fmt.Errorf("the plan has no lane %d: its lanes are 0 to %d", n, len(c.lanes)-1)
	}
	l := &Lane{Lane: n}
	for i, v := range c.lanes[n] {
		on := OnLane{Ref: c.ref(v), Waits: c.listed(c.schedule.Waits[v]), Time: p.time(c.schedule.Graph, v)}
		if i > 0 {
			on.Behind = c.depends(c.lanes[n][i-1], v)
		}
		l.Operations = append(l.Operations, on)
	}
	return l, nil
}

// lanesOf returns each lane as the names of its operations.
func (c *scope) lanesOf() (all [][]string) {
	for _, lane := range c.lanes {
		all = append(all, c.listed(lane))
	}
	return all
}

// unrequired returns the number of operations that follow on their lane an operation on which they do not depend, not even
// through others.
func (c *scope) unrequired() (n int) {
	for _, lane := range c.lanes {
		for i := 1; i < len(lane); i++ {
			if c.depends(lane[i-1], lane[i]) == None {
				n++
			}
		}
	}
	return n
}

// delays returns the number of waits that no dependency requires.
func delays(s *ir.Schedule) (n int) {
	for _, us := range s.Delays {
		n += len(us)
	}
	return n
}
