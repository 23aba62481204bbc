package sim

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/des"
)

// order knows which pieces of work are ordered, whatever the times at which
// they happened to run: those that follow each other in a stream, through
// events, along the edges of a graph, or because the host waited for one before
// it enqueued the other.
//
// Work is laid on chains, each totally ordered, and carries a vector clock with
// an entry for each chain: the last piece of work on it that comes before (Mattern
// 1989; one component per chain and not per thread, as in Agrawal & Bloom 2003,
// since a graph has more nodes than it has room for threads). Comparing two is
// then one look-up.
//
// What the bodies of conditional nodes hold is ordered in scopes, one for each
// round, with chains of their own: towards all that is not in the body, its work
// is where the node is. So what lies behind a loop need not know of its rounds, of
// which there is no saying how many come.
type order struct {
	chains
	readers    []*races    // of the devices whose work it orders
	host       vectorClock // what the host has waited for
	work       map[des.TaskID]*operation
	base, next des.TaskID // of the work outside of bodies that the host has not waited for
}

// chains has the last time on each chain.
type chains []uint32

// epoch is a place on a chain. Times count from 1.
type epoch struct{ chain, time uint32 }

// vectorClock holds, for each chain, the time up to which it is known. Chains
// that it is too short for are at 0.
type vectorClock []uint32

func (v vectorClock) at(chain uint32) uint32 {
	if int(chain) < len(v) {
		return v[chain]
	}
	return 0
}

// join is the later of both in each component. v is overwritten.
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

// with is the clock of what comes after op, of which v knows the rest.
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
	// A node decides before each round of its body, and after it.
	return o == other || o.before.at(other.chain) >= other.time
}

// add enters the task of that id, which the engine has just been given.
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

// free is a chain that work which knows v can continue, preferably that one.
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

// of is a task's operation, nil when the host has waited for it, or when it was in
// a body and has ended.
func (o *order) of(id des.TaskID) *operation { return o.work[id] }

// ended forgets a task in a body: no other will be said to depend on it.
func (o *order) ended(id des.TaskID) {
	if op := o.work[id]; op != nil && op.where.in != nil {
		delete(o.work, id)
	}
}

// waited notes that the host has waited for a task. What the host enqueues from
// now on comes after it.
func (o *order) waited(id des.TaskID) {
	if op := o.of(id); op != nil {
		o.host = o.host.with(op)
	}
}

// settle forgets the work that the host knows to be done. If that is all, nothing before
// can be unordered with anything to come.
func (o *order) settle() {
	for ; o.base < o.next; o.base++ {
		op := o.work[o.base]
		switch {
		case op == nil || op.where.in != nil: // of a body
		case o.host.at(op.chain) < op.time:
			return
		default:
			delete(o.work, o.base)
		}
	}
	o.reset()
}

// drained notes that the host has waited for the work of a device before end.
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

// reset notes that the host has waited for everything.
func (o *order) reset() {
	o.chains, o.host = o.chains[:0], o.host[:0]
	o.base = o.next
	clear(o.work)
	for _, r := range o.readers {
		clear(r.shadows)
	}
}

// leave takes a device's races off.
func (o *order) leave(r *races) {
	o.readers = slices.DeleteFunc(o.readers, func(other *races) bool { return other == r })
}
