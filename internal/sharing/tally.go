package sharing

import "time"

// Tally is the policy of W. Zhao et al., "Tally: Non-Intrusive Performance Isolation for Concurrent Deep Learning
// Workloads" (2025). The kernels of others are cut into parts of at most Most. A part is launched when the first program
// has been idle for Idle, and one is in flight at a time.
type Tally struct {
	Idle time.Duration // artifact: 100 us
	Most time.Duration // artifact: 100 us

	turn int
}

// Name implements Policy.
func (*Tally) Name() string { return "tally" }

// Form implements Policy.
func (t *Tally) Form() Form { return Form{Unit: Kernels, Most: t.Most, Priorities: true} }

// Next implements Policy.
func (t *Tally) Next(c *Core, now time.Duration) (Grant, time.Duration) {
	if len(c.programs) == 0 {
		return Grant{}, never
	}
	first := c.programs[0]
	if first.ready() && len(first.flying) < orionDepth {
		return first.one(), never
	}
	if first.Busy() || c.flying > 0 {
		return Grant{}, never
	}
	if wait := first.idle + t.Idle; first.last >= 0 && now < wait {
		return Grant{}, wait
	}
	for i := range c.programs[1:] {
		k := 1 + (t.turn+i)%(len(c.programs)-1)
		if p := c.programs[k]; p.ready() {
			t.turn = k
			return p.one(), never
		}
	}
	return Grant{}, never
}
