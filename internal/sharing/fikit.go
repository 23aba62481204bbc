package sharing

import "time"

// Fikit is the published policy (W. Wu, 2023), kernel by kernel. The active program of the greatest class holds the
// device, and its kernels are launched at once. When one has ended, kernels of the others may fill the gap behind it. The
// expected gap is the mean of those that followed the same kernel. Of the kernels whose time fits into what is left of
// it, the first class with any is selected, and in it the longest.
//
// A program exposes its next kernel only. One that is longer than all gaps is never launched.
type Fikit struct {
	SmallGap time.Duration // shorter gaps are not filled
	Hold     time.Duration // a program remains active for this time after a request

	holder *Program
	left   time.Duration // of the gap
	filled int           // stages of the holder that had ended when the gap began
}

// Name implements Policy.
func (*Fikit) Name() string { return "fikit" }

// Form implements Policy.
func (*Fikit) Form() Form { return Form{Unit: Kernels, Priorities: true} }

// Next implements Policy.
func (f *Fikit) Next(c *Core, now time.Duration) (Grant, time.Duration) {
	holder, wake := c.holder(now, f.Hold)
	if holder == nil {
		return Grant{}, never
	}
	for _, p := range c.programs { // equal classes share in the default way
		if p.Class == holder.Class && p.ready() && len(p.flying) == 0 {
			return p.one(), never
		}
	}
	if holder.Busy() {
		return Grant{}, never
	}
	if f.holder != holder || f.filled != holder.stats.Stages {
		f.holder, f.filled, f.left = holder, holder.stats.Stages, 0
		if g := holder.gap(); g != nil && g.Mean() > f.SmallGap {
			f.left = g.Mean()
		}
	}
	p := c.bestFit(holder.Class, f.left)
	if p == nil {
		return Grant{}, wake
	}
	f.left -= p.head().Time
	return p.one(), never
}

// holder returns the active program of the greatest class, nil if none is active, and the time at which it ceases to be active
// if it submits nothing.
func (c *Core) holder(now, hold time.Duration) (*Program, time.Duration) {
	for _, p := range c.programs {
		if p.active(now, hold) {
			if p.Busy() || p.last+1 < len(p.stages) {
				return p, never
			}
			return p, p.idle + hold
		}
	}
	return nil, never
}

// bestFit returns the program below a class whose next unit takes at most a time: of the greatest such class, and
// the longest in it.
func (c *Core) bestFit(below int, left time.Duration) (best *Program) {
	for _, p := range c.programs {
		if p.Class >= below || !p.ready() || p.head().Time > left {
			continue
		}
		if best == nil || p.Class == best.Class && p.head().Time > best.head().Time {
			best = p
		}
	}
	return best
}
