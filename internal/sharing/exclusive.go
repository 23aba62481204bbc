package sharing

import "time"

// Exclusive gives the device to one stage after another: that of the greatest class, and of the one that arrived first
// among equals.
type Exclusive struct{}

// Name implements Policy.
func (Exclusive) Name() string { return "exclusive" }

// Form implements Policy.
func (Exclusive) Form() Form { return Form{Unit: Whole} }

// Next implements Policy.
func (Exclusive) Next(c *Core, _ time.Duration) (Grant, time.Duration) {
	if c.flying > 0 {
		return Grant{}, never
	}
	var best *Program
	for _, p := range c.programs {
		if p.ready() && (best == nil || p.Class == best.Class && p.waiting[0].arrived < best.waiting[0].arrived) {
			best = p
		}
	}
	if best == nil {
		return Grant{}, never
	}
	return best.all(), never
}
