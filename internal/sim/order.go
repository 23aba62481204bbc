package sim

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/des"
)

// order records the happens-before relation of work, independent of virtual times. Work is ordered by streams, by
// events, by edges of graphs, and by the host if it waits for one piece before it enqueues the other.
//
// Work is assigned to chains, each of which is totally ordered. Each piece of work carries a vector clock. Its
// component for a chain is the last piece of work on that chain that precedes it (Mattern 1989). There is one
// component per chain and not one per thread (as in Agrawal & Bloom 2003), because a graph has too many nodes for the
// latter. A comparison is then one look-up.
//
// Work in bodies of conditional nodes is ordered in scopes, one per iteration, with chains of their own. Compared
// with work outside of the body it has the position of its node. Clocks of later work thus need no components for the
// iterations, whose number is not known in advance.
type order struct {
	chains
	readers    []*races    // race detectors of the devices whose work is ordered
	host       vectorClock // work that the host has waited for
	work       map[des.TaskID]*operation
	base, next des.TaskID // range of the tasks outside of bodies that the host has not waited for

	// shadows are those of the memory of all devices and of pinned memory, by base address. Work of one device may
	// access the memory of another one.
	shadows map[uint64]*shadow
}

// chains holds the last time on each chain.
type chains []uint32

// epoch is a position on a chain. Times count from 1.
type epoch struct{ chain, time uint32 }

// vectorClock holds, for each chain, the last time that precedes. Missing components are 0.
type vectorClock []uint32

func (v vectorClock) at(chain uint32) uint32 {
	if int(chain) < len(v) {
		return v[chain]
	}
	return 0
}

// join returns the maximum of both clocks in each component. v is overwritten.
func (v vectorClock) join(o vectorClock) vectorClock {
	v = v.reach(len(o))
	for i, t := range o {
		v[i] = max(v[i], t)
	}
	return v
}

func (v vectorClock) reach(n int) vectorClock {
	if len(v) < n {
		v = append(v, make(vectorClock, n-len(v))...)
	}
	return v
}

// with returns the clock of work that follows op; v holds its other predecessors.
func (v vectorClock) with(op *operation) vectorClock {
	v = v.join(op.before)
	v = v.reach(int(op.chain) + 1)
	v[op.chain] = max(v[op.chain], op.time)
	return v
}

// operation is one run of a job.
type operation struct {
	epoch
	before vectorClock
	on     *Device
	job    *job
	where  place
}

// after reports whether o is ordered after the other operation.
func (o *operation) after(other *operation) bool {
	for o.where.in.depthOf() > other.where.in.depthOf() {
		o = o.where.in.of.op
	}
	for other.where.in.depthOf() > o.where.in.depthOf() {
		other = other.where.in.of.op
	}
	for o.where.in != other.where.in {
		a, b := o.where.in, other.where.in
		if a.of == b.of {
			return a.round > b.round
		}
		o, other = a.of.op, b.of.op
	}
	// A conditional node decides both before and after each iteration of its body.
	return o == other || o.before.at(other.chain) >= other.time
}

// add adds the task with that id, which was just added to the engine.
func (o *order) add(id des.TaskID, deps []des.TaskID, op *operation) {
	at := op.where
	c := &o.chains
	if at.in != nil {
		c = &at.in.chains
	} else {
		op.before = slices.Clone(o.host)
		if o.base == o.next {
			o.base = id
		}
		o.next = id + 1
	}
	first := uint32(0)
	for i, dep := range deps {
		if d := o.of(dep); d != nil && d.where.in == at.in {
			op.before = op.before.with(d)
			if i == 0 {
				first = d.chain
			}
		}
	}
	op.chain = c.free(op.before, first)
	(*c)[op.chain]++
	op.time = (*c)[op.chain]
	if o.work == nil {
		o.work = map[des.TaskID]*operation{}
	}
	o.work[id] = op
}

// free returns a chain whose last work precedes work with clock v, or a new one. It returns the preferred chain if
// possible.
func (c *chains) free(v vectorClock, preferred uint32) uint32 {
	if int(preferred) < len(*c) && v.at(preferred) == (*c)[preferred] {
		return preferred
	}
	for i, last := range *c {
		if v.at(uint32(i)) == last {
			return uint32(i)
		}
	}
	*c = append(*c, 0)
	return uint32(len(*c) - 1)
}

// of returns the operation of a task. It is nil if the host has waited for the task, or if the task was in a body and
// has ended.
func (o *order) of(id des.TaskID) *operation { return o.work[id] }

// ended drops a task in a body. No later task depends on it.
func (o *order) ended(id des.TaskID) {
	if op := o.work[id]; op != nil && op.where.in != nil {
		delete(o.work, id)
	}
}

// waited records that the host has waited for a task. All work enqueued later is ordered after it.
func (o *order) waited(id des.TaskID) {
	if op := o.of(id); op != nil {
		o.host = o.host.with(op)
	}
}

// settle drops the work that the host has waited for. If that is all work, the order starts anew, because everything
// so far precedes everything to come.
func (o *order) settle() {
	for ; o.base < o.next; o.base++ {
		op := o.work[o.base]
		switch {
		case op == nil || op.where.in != nil: // in a body
		case o.host.at(op.chain) < op.time:
			return
		default:
			delete(o.work, o.base)
		}
	}
	o.reset()
}

// drained records that the host has waited for the work of a device before task end.
func (o *order) drained(d *Device, end des.TaskID) {
	if len(o.readers) == 1 && d.engine.Idle() {
		o.reset()
		return
	}
	for id, op := range o.work {
		if op.on == d && op.where.in == nil && id < end {
			o.host = o.host.with(op)
		}
	}
	o.settle()
}

// reset records that the host has waited for all work.
func (o *order) reset() {
	o.chains, o.host = o.chains[:0], o.host[:0]
	o.base = o.next
	clear(o.work)
	clear(o.shadows)
}

// shadowOf returns the shadow of the allocation at an address.
func (o *order) shadowOf(base uint64) *shadow {
	s := o.shadows[base]
	if s == nil {
		if o.shadows == nil {
			o.shadows = map[uint64]*shadow{}
		}
		s = &shadow{}
		o.shadows[base] = s
	}
	return s
}

// leave removes the race detector of a device.
func (o *order) leave(r *races) {
	o.readers = slices.DeleteFunc(o.readers, func(other *races) bool { return other == r })
}
