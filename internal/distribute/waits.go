package distribute

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// Lane is a queue of a device. Its operations run in the order of submission.
type Lane uint8

const (
	Compute Lane                   = iota // chunks
	Edge                                  // edges of chunks in front of the interior, beside it
	Back                                  // edges behind it. What is sent to another rank then does not wait for the other edge
	Aside                                 // launches that leave multiprocessors idle and whose results no other operation accesses
	Leaving                               // bytes that leave the rank: Out
	Coming  = Leaving + stageLanes        // bytes that the host brings in an exchange: In
	Pushing = Coming + stageLanes         // bytes for peers: Push
	Lanes   = Pushing + pushLanes
)

// stageLanes is the number of lanes for Outs, and of those for Ins. A device with a neighbour on each side has each of its two
// transfers in a lane of its own, so that neither edge waits for what the other one needs.
const stageLanes = 2

// pushLanes is the number of lanes for copies to peers, so that copies to different peers run side by side. A node of most machines has 4 or 8 devices.
const pushLanes = 4

// Lane returns the lane of an operation on its device. A Load has none.
func (p *Plan) Lane(o *Op) Lane {
	switch {
	case o.Kind == Push:
		return Pushing + Lane(o.Peer%pushLanes)
	case o.Kind == Out:
		return Leaving + Lane(o.Part%stageLanes)
	case o.Kind == In:
		return Coming + Lane(o.Part%stageLanes)
	}
	switch c := &p.Decisions[o.Of].Chunks[o.Chunk]; {
	case p.Decisions[o.Of].Aside:
		return Aside
	case c.Edge && c.Back:
		return Back
	case c.Edge:
		return Edge
	}
	return Compute
}

// waiter finds the waits of operations. It runs the rounds as a sequence, with the repeated ones twice, and keeps for the
// memory of each device the last accesses of each byte. An operation waits for the last writer of what it reads, and for
// the readers since the last write, or the writer, of what it writes. Waits that the order of lanes and other waits imply
// are left out:
//
//	behind[v][lane] = the last operation of the lane that is known to end before v begins
//
// is the vector clock of operation v, which is the maximum of those of the operations that it waits for.
type waiter struct {
	plan   *Plan
	order  []instance
	memory map[place]*history
	tail   []int32 // by lane of all devices: the last instance; -1 for none
	behind [][]int32
	base   []int // by device: the first lane of its rank
	width  []int // by device: the number of lanes of its rank
}

// instance is a run of an operation.
type instance struct {
	round, op int32
	lane      int32 // of all devices
}

// place is the memory of a device for a buffer. Staging memory for copies in a rank has device -1 and the round and the
// index of the Out as buffer.
type place struct {
	device int32
	buffer int64
}

func newWaiter(p *Plan) *waiter {
	w := &waiter{plan: p, memory: map[place]*history{}, tail: make([]int32, len(p.Layout.Devices)*int(Lanes))}
	for i := range w.tail {
		w.tail[i] = -1
	}
	for d := range p.Layout.Devices {
		lo, hi := p.Layout.local(p.Layout.Devices[d].Rank)
		w.base, w.width = append(w.base, int(lo)*int(Lanes)), append(w.width, int(hi-lo)*int(Lanes))
	}
	return w
}

// addWaits sets the waits of all operations of a plan.
func addWaits(p *Plan) {
	w := newWaiter(p)
	for r := range p.Rounds {
		w.round(r)
	}
	for r := p.Repeat; r < len(p.Rounds); r++ {
		w.round(r)
	}
}

// round adds the waits of one run of a round.
func (w *waiter) round(r int) {
	ops := w.plan.Rounds[r].Ops
	var touched []memoryAccess
	var before []int32
	for i := range ops {
		op := &ops[i]
		if op.Kind == Load { // nothing has accessed its bytes, and it ends before the round begins
			continue
		}
		touched = w.accesses(touched[:0], r, i)
		lane := op.Device*int32(Lanes) + int32(w.plan.Lane(op))
		clock := w.behindLane(op.Device, lane)
		before = before[:0]
		for _, a := range touched {
			before = w.before(before, a, lane, clock, w.base[op.Device])
		}
		at := w.begin(r, i, lane, clock, before)
		for _, a := range touched {
			w.record(at, a)
		}
	}
}

// behindLane returns the vector clock of an operation that waits only for the last one of its lane.
func (w *waiter) behindLane(device, lane int32) []int32 {
	clock := make([]int32, w.width[device])
	if last := w.tail[lane]; last >= 0 {
		copy(clock, w.behind[last])
		clock[int(lane)-w.base[device]] = last + 1
	}
	return clock
}

// begin appends the instance of an operation, adds its waits and returns its number.
func (w *waiter) begin(r, i int, lane int32, clock, before []int32) int32 {
	op := &w.plan.Rounds[r].Ops[i]
	base := w.base[op.Device]
	slices.Sort(before)
	for _, u := range slices.Backward(before) { // the latest first: they imply most
		at := &w.order[u]
		if clock[int(at.lane)-base] > u {
			continue
		}
		if wait := (Wait{at.round, at.op}); !slices.Contains(op.Waits, wait) {
			op.Waits = append(op.Waits, wait)
		}
		for l, t := range w.behind[u] {
			clock[l] = max(clock[l], t)
		}
		clock[int(at.lane)-base] = max(clock[int(at.lane)-base], u+1)
	}
	w.tail[lane] = int32(len(w.order))
	w.order = append(w.order, instance{int32(r), int32(i), lane})
	w.behind = append(w.behind, clock)
	return w.tail[lane]
}

// memoryAccess is an access of an operation of the plan.
type memoryAccess struct {
	place
	lo, hi int64
	mode   ir.Mode
}

// accesses appends the accesses of an operation to memory of devices, and to staging memory that no exchange protects.
func (w *waiter) accesses(list []memoryAccess, r, i int) []memoryAccess {
	op := &w.plan.Rounds[r].Ops[i]
	if op.Kind == Run {
		for _, a := range w.plan.Decisions[op.Of].Chunks[op.Chunk].Accesses {
			for _, s := range w.plan.places(a) {
				list = append(list, memoryAccess{place{op.Device, int64(a.Buffer)}, s.Lo, s.Hi, a.Mode})
			}
		}
		return list
	}
	b := op.Bytes
	at := func(device int32, mode ir.Mode) {
		list = append(list, memoryAccess{place{device, int64(b.Buffer)}, b.Lo, b.Hi, mode})
	}
	switch op.Kind {
	case In:
		at(op.Device, ir.Write)
	case Push:
		at(op.Device, ir.Read)
		at(op.Peer, ir.Write)
	case Out:
		at(op.Device, ir.Read)
	}
	if op.Exchange >= 0 {
		return list
	}
	switch op.Kind {
	case Out:
		list = append(list, memoryAccess{stage(r, int32(i)), 0, 1, ir.Write})
	case In:
		list = append(list, memoryAccess{stage(r, op.Part), 0, 1, ir.Read})
	}
	return list
}

// stage is the staging memory of an Out without an exchange.
func stage(r int, out int32) place { return place{-1, int64(r)<<32 | int64(out)} }

func (w *waiter) at(p place) *history {
	h := w.memory[p]
	if h == nil {
		h = &history{}
		w.memory[p] = h
	}
	return h
}

// before appends the instances that an access in a lane has to wait for and that its clock does not imply. The clock implies the
// writers of bytes that the lane has read before.
func (w *waiter) before(list []int32, a memoryAccess, lane int32, clock []int32, base int) []int32 {
	h := w.at(a.place)
	add := func(u int32) {
		if clock[int(w.order[u].lane)-base] <= u {
			list = append(list, u)
		}
	}
	if !a.mode.Writes() {
		for lo, hi := range h.reads(lane).gaps(a.lo, a.hi) {
			h.writers.each(lo, hi, add)
		}
		return list
	}
	h.writers.each(a.lo, a.hi, add)
	for i := range h.readers {
		h.readers[i].each(a.lo, a.hi, add)
	}
	return list
}

// record adds an access of an instance.
func (w *waiter) record(at int32, a memoryAccess) {
	h := w.at(a.place)
	if !a.mode.Writes() {
		h.reads(w.order[at].lane).set(a.lo, a.hi, at)
		return
	}
	h.writers.set(a.lo, a.hi, at)
	for i := range h.readers {
		h.readers[i].clear(a.lo, a.hi)
	}
}
