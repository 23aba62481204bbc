package sharing

import "time"

// Orion is the policy of F. Strati et al., "Orion: Interference-aware, Fine-grained GPU Sharing for ML Applications"
// (2024). Kernels of the first program are launched at once. A kernel of another is launched if the first is idle, or if
// the multiprocessors of the others together stay below a limit and the kernel is bound by another resource than
// the present one of the first program. When the launched kernels of others add up to Most, all of them have to end
// before more are launched.
type Orion struct {
	SMs  int           // limit, 0 for the whole device
	Most time.Duration // artifact: 100 to 160 us, some 2.5 % of a request of the first program

	sum  time.Duration // of the launched kernels of others since they were all ended
	turn int
}

// Name implements Policy.
func (*Orion) Name() string { return "orion" }

// Form implements Policy.
func (*Orion) Form() Form { return Form{Unit: Kernels, Priorities: true} }

// orionDepth is the number of kernels of the first program in flight, so that the device does not wait for the host.
const orionDepth = 4

// Next implements Policy.
func (o *Orion) Next(c *Core, _ time.Duration) (Grant, time.Duration) {
	if len(c.programs) == 0 {
		return Grant{}, never
	}
	first := c.programs[0]
	if first.ready() && len(first.flying) < orionDepth {
		return first.one(), never
	}
	if o.sum >= o.Most {
		if c.flying > len(first.flying) {
			return Grant{}, never
		}
		o.sum = 0
	}
	for i := range c.programs[1:] {
		k := 1 + (o.turn+i)%(len(c.programs)-1)
		if p := c.programs[k]; p.ready() && len(p.flying) == 0 && o.admits(c, first, p.head()) {
			o.turn = k
			o.sum += p.head().Time
			return p.one(), never
		}
	}
	return Grant{}, never
}

// admits reports whether a unit may run beside the first program.
func (o *Orion) admits(c *Core, first *Program, u Unit) bool {
	if !first.Busy() {
		return true
	}
	if len(first.flying) == 0 {
		return false
	}
	sms := u.SMs
	for _, p := range c.programs[1:] {
		for _, g := range p.flying {
			sms += p.stages[g.Stage].Units[g.First].SMs
		}
	}
	g := first.flying[0]
	present := first.stages[g.Stage].Units[g.First].Bound
	return (o.SMs == 0 || sms <= o.SMs) && (present != u.Bound || u.Bound == Unknown)
}
