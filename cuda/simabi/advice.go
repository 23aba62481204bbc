//go:build cuda && cgo

package simabi

import "slices"

// adviceTopic is the subject of advice.
type adviceTopic int

const (
	readMostly adviceTopic = iota
	preferred
	lastPrefetch
	accessed // by the device that is added; the host is -1
)

// accessedBy returns the topic of access by a device. The host has number -1.
func accessedBy[D ~int32](dev D) adviceTopic { return accessed + 1 + adviceTopic(dev) }

// advice applies to addresses [lo, hi), until later advice on the same topic.
type advice struct {
	lo, hi uint64
	topic  adviceTopic
	device int
	set    bool
}

// advices are in the order of their calls, without those that later ones replace completely. The advice on a topic at
// an address is the last one that contains the address.
type advices []advice

// set adds advice and removes earlier advice on the same topic within its range, in O(len(l)).
func (l *advices) set(a advice) {
	*l = slices.DeleteFunc(*l, func(old advice) bool { return old.topic == a.topic && a.lo <= old.lo && old.hi <= a.hi })
	*l = append(*l, a)
}

// uniform returns the device of the advice on a topic for [lo, hi). It returns
// false if there is no advice, or if it is not the same everywhere. The advice can change only at the edges of ranges,
// so it is compared at lo and at each edge in between: O(len(l)²) steps.
func (l advices) uniform(lo, hi uint64, topic adviceTopic) (dev int, ok bool) {
	at := func(addr uint64) advice {
		for _, a := range slices.Backward(l) {
			if a.topic == topic && a.lo <= addr && addr < a.hi {
				return a
			}
		}
		return advice{}
	}
	first := at(lo)
	for _, a := range l {
		for _, edge := range [2]uint64{a.lo, a.hi} {
			if a.topic == topic && lo < edge && edge < hi {
				if other := at(edge); other.set != first.set || other.device != first.device {
					return 0, false
				}
			}
		}
	}
	return first.device, first.set
}
