package des

import (
	"math"

	"github.com/reprise-gpu/reprise/device/model"
)

// Channel is a resource that tasks of several engines of a clock share, such as one direction of a link between devices.
// If its users together demand more than its capacity, all of them slow down in proportion, as with the resources of one
// device. The share of a user depends on the rates that all users would have alone. A task that starts or ends on one
// engine therefore changes the rates of the users on other engines, and only those.
type Channel struct {
	capacity float64 // bytes per ps
	want     float64 // bytes per ps that the users demand at their rates alone
}

// Channel returns a channel of a bandwidth in 1e9 bytes/s.
func (c *Clock) Channel(gbps float64) *Channel { return &Channel{capacity: gbps * 1e9 / 1e12} }

// Crossing is the traffic of a task over a channel.
type Crossing struct {
	Over  *Channel
	Bytes float64
}

// Cross adds traffic over channels to the task that is being started. Only a start function calls it, for tasks of kinds
// model.Kernel, model.CopyIn, model.CopyOut and CopyPeer.
func (e *Engine) Cross(over ...Crossing) { e.crossing = append(e.crossing, over...) }

// usage is the amount of a channel that one block uses, or one byte of a copy.
type usage struct {
	of  *Channel
	per float64
}

// usages divides the traffic of a task among its blocks.
func usages(over []Crossing, blocks float64) (list []usage) {
	for _, c := range over {
		if c.Bytes > 0 {
			list = append(list, usage{c.Over, c.Bytes / blocks})
		}
	}
	return list
}

// channels returns the channels that the flow uses in its present phase.
func (w *flow) channels() []usage {
	if w.missing > 0 {
		return nil
	}
	return w.over
}

// crossingRate returns the rate that the slowest channel allows, in blocks, or bytes of a copy, per ps. The channels are
// one part of the time of a kernel, because the same bytes pass them.
func (w *flow) crossingRate() float64 {
	least := math.Inf(1)
	for _, u := range w.channels() {
		least = min(least, u.of.capacity/u.per)
	}
	return least
}

// crosses reports whether the fluid uses channels, or has stopped to use one since its rates were computed.
func (f *fluid) crosses() bool { return f.crossings > 0 || f.crossed }

// demandChannels adds to the demand of each channel what the flows use at their rates alone.
func (f *fluid) demandChannels() {
	for i := range f.flows {
		w := &f.flows[i]
		for _, u := range w.channels() {
			u.of.want += w.solo * u.per
		}
	}
}

// couple prepares the engines that use channels for the computation of new rates if one of them has changed.
func (c *Clock) couple() {
	changed := false
	for _, e := range c.engines {
		changed = changed || e.fluid.dirty && e.fluid.crosses()
	}
	if !changed {
		return
	}
	for _, e := range c.engines {
		if f := &e.fluid; f.crosses() {
			f.dirty = true
			for i := range f.flows {
				for _, u := range f.flows[i].over {
					u.of.want = 0
				}
			}
		}
	}
}

// rebalance shares the devices and the channels among the tasks that are running.
func (c *Clock) rebalance(now model.Time) {
	c.couple()
	for _, e := range c.engines {
		if f := &e.fluid; f.dirty {
			f.advance(now)
			for _, id := range f.demandAll() {
				e.tasks.at(id).span.Begin = now
			}
		}
	}
	for _, e := range c.engines {
		if f := &e.fluid; f.dirty {
			f.shareAll()
		}
	}
}
