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
type order struct {
	tips []uint32     // the last time on each chain
	host vectorClock  // what the host has waited for
	work []*operation // by task, from base on: the first that the host has not waited for
	base des.TaskID
}

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
	job    *job
	where  place
}

// after reports whether o is ordered after the other operation.
func (o *operation) after(other *operation) bool { return o.before.at(other.chain) >= other.time }

// add enters the task of that id, which the engine has just been given.
func (o *order) add(id des.TaskID, deps []des.TaskID, j *job, at place) {
	if len(o.work) == 0 {
		o.base = id
	}
	op := &operation{job: j, where: at, before: slices.Clone(o.host)}
	first := uint32(0)
	for i, dep := range deps {
		if d := o.of(dep); d != nil {
			op.before = op.before.with(d)
			if i == 0 {
				first = d.chain
			}
		}
	}
	op.chain = o.chain(op.before, first)
	o.tips[op.chain]++
	op.time = o.tips[op.chain]
	o.work = append(o.work, op)
}

// chain is one that work which knows v can continue, preferably that one.
func (o *order) chain(v vectorClock, preferred uint32) uint32 {
	free := func(c uint32) bool { return v.at(c) == o.tips[c] }
	if int(preferred) < len(o.tips) && free(preferred) {
		return preferred
	}
	for c := range o.tips {
		if free(uint32(c)) {
			return uint32(c)
		}
	}
	o.tips = append(o.tips, 0)
	return uint32(len(o.tips) - 1)
}

// of is a task's operation, nil when the host has waited for it and all before.
func (o *order) of(id des.TaskID) *operation {
	if i := id - o.base; id >= o.base && int(i) < len(o.work) {
		return o.work[i]
	}
	return nil
}

// waited notes that the host has waited for a task. What the host enqueues from
// now on comes after it.
func (o *order) waited(id des.TaskID) {
	if op := o.of(id); op != nil {
		o.host = o.host.with(op)
	}
}

// settle forgets the work that the host knows to be done, and reports whether
// that is all: then nothing before can be unordered with anything to come.
func (o *order) settle() bool {
	n := 0
	for n < len(o.work) && o.host.at(o.work[n].chain) >= o.work[n].time {
		n++
	}
	o.work = slices.Delete(o.work, 0, n)
	o.base += des.TaskID(n)
	if len(o.work) > 0 {
		return false
	}
	o.drained()
	return true
}

// drained notes that the host has waited for everything.
func (o *order) drained() {
	o.tips, o.host, o.work = o.tips[:0], o.host[:0], o.work[:0]
}
