package interp

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// asyncCopy is a pending copy from global to shared memory: cp.async. Its bytes are read
// when it starts and stored only when the thread waits for it. A kernel that does not wait
// reads the old contents, as it may on a GPU:
//
//	cp.async  [s], [g]     group 0     async: {s, data of g, group 0}
//	commit_group                       groups[lane] = 1
//	cp.async  [s'], [g']   group 1     async: …, {s', data of g', group 1}
//	wait_group 1                       stores the copies of group 0
type asyncCopy struct {
	inst  *inst
	lane  int
	group uint32 // of the lane, in order of commit
	dst   uint32 // offset in shared memory
	size  int
	data  [16]byte
}

// asyncSource holds the operands that do not fit into an inst: the address in shared
// memory, whose register is e, and those of the copy.
type asyncSource struct {
	wide   bool // the register has 64 bits
	offset uint64
	size   uint64
}

// copyAsync starts a copy. c is the number of bytes to read; the rest is filled with
// zeros.
func copyAsync(w *warp, in *inst) {
	s := in.x.async
	skip := uint32(0)
	if in.x.p != noSlot {
		skip = w.getPred(in.x.p, in.x.pNeg)
	}
	var sectors sectorSet
	for m := w.live; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		c := asyncCopy{inst: in, lane: lane, group: w.groups[lane], size: int(s.size)}
		n := s.size
		if in.c != noSlot {
			n = min(n, uint64(view[uint32](w, in.c)[lane]))
		}
		if skip>>lane&1 != 0 {
			n = 0
		}
		if !w.readAsync(in, c.data[:n], lane, &sectors) {
			return
		}
		dst := s.offset
		if s.wide {
			dst += view[uint64](w, in.x.e)[lane]
		} else {
			dst = uint64(view[uint32](w, in.x.e)[lane] + uint32(dst))
		}
		if dst&(s.size-1) != 0 {
			w.fail(Misaligned, in, lane, dst, fmt.Sprintf("copy of %d bytes to shared %#x: the address is not a multiple of %d", s.size, dst, s.size))
			return
		}
		if w.window(in, "shared", w.shared, dst, s.size, w.sharedSize, dst, lane) == nil {
			return
		}
		c.dst = uint32(dst)
		w.watchAsync(&c)
		w.async = append(w.async, c)
	}
	w.countSectors(in, sectors.count)
}

// readAsync reads the source of a copy.
func (w *warp) readAsync(in *inst, data []byte, lane int, sectors *sectorSet) bool {
	addr, size := w.address(in, lane), in.x.async.size
	switch {
	case addr&(size-1) != 0:
		w.fail(Misaligned, in, lane, addr, fmt.Sprintf("copy of %d bytes from %#x: the address is not a multiple of %d", size, addr, size))
		return false
	case len(data) == 0:
		return true
	}
	p := w.global(in, addr, uint64(len(data)), lane)
	if p == nil {
		return false
	}
	copy(data, unsafe.Slice((*byte)(p), len(data)))
	sectors.add(addr, uint64(len(data)))
	return true
}

// commitAsync closes the group of the copies that the live lanes started.
func commitAsync(w *warp, _ *inst) {
	each(w.live, func(lane int) { w.groups[lane]++ })
}

// waitAsync completes the copies of the live lanes, except those of the latest imm
// groups.
func waitAsync(w *warp, in *inst) {
	kept := w.async[:0]
	for _, c := range w.async {
		if w.live>>c.lane&1 == 0 || int64(c.group) >= int64(w.groups[c.lane])-int64(in.imm) {
			kept = append(kept, c)
			continue
		}
		w.arriveAsync(&c)
	}
	w.async = kept
}

// waitAllAsync completes all copies of the live lanes, including those of the open
// group.
func waitAllAsync(w *warp, in *inst) {
	commitAsync(w, in)
	waitAsync(w, in) // imm is 0
}

// watchAsync reports a copy to the race detector twice: when it starts, since it may
// arrive at once, and when it is waited for, since it may arrive only then.
func (w *warp) watchAsync(c *asyncCopy) {
	if w.eng.tile != nil {
		w.eng.tile.asyncStore(w, c)
	}
}

// arriveAsync stores the bytes of a copy.
func (w *warp) arriveAsync(c *asyncCopy) {
	w.watchAsync(c)
	copy(unsafe.Slice((*byte)(unsafe.Add(w.shared, c.dst)), c.size), c.data[:])
}

// mbarrier is the state of an mbarrier object, whose layout PTX leaves open. It is packed
// into the 8 bytes of the object:
//
//	63      62 ……… 40   39 …… 20   19 …… 0
//	phase   bytes       expected   pending
//
// A phase completes when no arrival is pending and no byte outstanding.
type mbarrier struct {
	pending, expected uint32
	bytes             int32
	phase             uint32
}

// unpackBarrier returns the state in the bytes of an object.
func unpackBarrier(v uint64) mbarrier {
	return mbarrier{uint32(v & 0xfffff), uint32(v >> 20 & 0xfffff), int32(v>>40<<9) >> 9, uint32(v >> 63)}
}

// pack returns the bytes of the object.
func (b mbarrier) pack() uint64 {
	return uint64(b.pending) | uint64(b.expected)<<20 | uint64(uint32(b.bytes)&(1<<23-1))<<40 | uint64(b.phase)<<63
}

// complete begins the next phase if no arrival and no byte is outstanding.
func (b *mbarrier) complete() {
	if b.pending == 0 && b.bytes == 0 {
		b.pending = b.expected
		b.phase ^= 1
	}
}

// barrierUpdate applies an mbarrier operation to an object. It returns the text of a fault,
// or "".
type barrierUpdate func(b *mbarrier, operand uint32) (fault string)

// barrierUpdates are the operations by their opcode behind "mbarrier.".
var barrierUpdates = map[string]barrierUpdate{
	"init": func(b *mbarrier, n uint32) string {
		if n == 0 || n >= 1<<20 {
			return fmt.Sprintf("the count %d is not between 1 and 1048575", n)
		}
		*b = mbarrier{pending: n, expected: n}
		return ""
	},
	"inval":     func(b *mbarrier, _ uint32) string { *b = mbarrier{}; return "" },
	"arrive":    arriveAtBarrier,
	"expect_tx": func(b *mbarrier, n uint32) string { b.bytes += int32(n); return "" },
	"complete_tx": func(b *mbarrier, n uint32) string {
		b.bytes -= int32(n)
		b.complete()
		return ""
	},
	"arrive_drop": func(b *mbarrier, n uint32) string {
		b.expected -= min(n, b.expected)
		return arriveAtBarrier(b, n)
	},
	"arrive.expect_tx": func(b *mbarrier, n uint32) string {
		b.bytes += int32(n)
		return arriveAtBarrier(b, 1)
	},
	"arrive_drop.expect_tx": func(b *mbarrier, n uint32) string {
		b.bytes += int32(n)
		b.expected -= min(1, b.expected)
		return arriveAtBarrier(b, 1)
	},
}

// arriveAtBarrier counts n arrivals.
func arriveAtBarrier(b *mbarrier, n uint32) string {
	if n > b.pending {
		return fmt.Sprintf("%d threads arrive at an mbarrier that expects %d more in this phase", n, b.pending)
	}
	b.pending -= n
	b.complete()
	return ""
}

// updateBarrier applies an mbarrier operation lane by lane. The result is the state
// before, which identifies the phase.
func updateBarrier(f barrierUpdate, fresh bool) handler {
	return func(w *warp, in *inst) {
		each(w.live, func(lane int) {
			p := (*uint64)(w.locate(in, w.address(in, lane), 8, lane))
			if p == nil {
				return
			}
			old := *p
			b := unpackBarrier(old)
			n := uint32(1)
			if in.b != noSlot {
				n = view[uint32](w, in.b)[lane]
			}
			fault := "the mbarrier is not initialised"
			if fresh || b.expected > 0 || b.pending > 0 {
				fault = f(&b, n)
			}
			if fault != "" {
				w.fail(BarrierMismatch, in, lane, 0, fault)
				return
			}
			*p = b.pack()
			w.setLane(element{in.d, 8}, lane, old)
		})
		w.polls = 0
	}
}

// testBarrier implements test_wait and try_wait: they test whether the phase of a
// state, or of a parity, is complete.
func testBarrier(parity bool) handler {
	return func(w *warp, in *inst) {
		var done uint32
		each(w.live, func(lane int) {
			p := (*uint64)(w.locate(in, w.address(in, lane), 8, lane))
			if p == nil {
				return
			}
			phase := uint32(0)
			if parity {
				phase = view[uint32](w, in.b)[lane] & 1
			} else {
				phase = uint32(view[uint64](w, in.b)[lane] >> 63)
			}
			if uint32(*p>>63) != phase {
				done |= 1 << lane
			} else {
				w.observe(in, lane, sighting{w.address(in, lane), *p})
			}
		})
		if done != 0 {
			w.polls = 0
		}
		w.setPred(in.d, done)
	}
}
