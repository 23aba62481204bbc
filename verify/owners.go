package verify

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// owners is the last writer of each address of buffers that share memory, in submission order: disjoint ranges,
// ascending.
type owners []owner

type owner struct {
	lo, hi int64
	buffer ir.BufferID
	op     ir.OpID
}

// overwritten returns an access that reads bytes which another buffer has written since, in submission order, and their
// writer. Accesses with strides count as their whole range. Two replays in a row include the reads of a replay of what
// the one before has left.
func (l *loweredProgram) overwritten(aliased []bool, address []device.Ptr) (reader ir.OpID, by owner, found bool) {
	g := l.schedule.Graph
	var all owners
	var scratch [2]ir.Access
	order := l.submitted(g)
	for _, v := range slices.Concat(order, order) {
		accesses := g.Ops[v].Accesses(&scratch)
		for _, a := range accesses {
			if !aliased[a.Buffer] || a.Empty() || !a.Mode.Reads() {
				continue
			}
			base := int64(address[a.Buffer])
			i, j := all.within(base+a.Lo, base+a.Hi)
			for _, o := range all[i:j] {
				if o.buffer != a.Buffer {
					return v, o, true
				}
			}
		}
		for _, a := range accesses {
			if aliased[a.Buffer] && !a.Empty() && a.Mode.Writes() {
				base := int64(address[a.Buffer])
				all = all.write(owner{base + a.Lo, base + a.Hi, a.Buffer, v})
			}
		}
	}
	return 0, by, false
}

// within returns the indices [i, j) of the ranges with bytes in [lo, hi).
func (all owners) within(lo, hi int64) (i, j int) {
	i, _ = slices.BinarySearchFunc(all, lo, func(o owner, lo int64) int {
		if o.hi <= lo {
			return -1
		}
		return 1
	})
	for j = i; j < len(all) && all[j].lo < hi; j++ {
	}
	return i, j
}

// write returns the owners after a write.
func (all owners) write(o owner) owners {
	i, j := all.within(o.lo, o.hi)
	if i == j {
		return slices.Insert(all, i, o)
	}
	with := make(owners, 0, 3)
	if left := all[i]; left.lo < o.lo {
		left.hi = o.lo
		with = append(with, left)
	}
	with = append(with, o)
	if right := all[j-1]; right.hi > o.hi {
		right.lo = o.hi
		with = append(with, right)
	}
	return slices.Replace(all, i, j, with...)
}
