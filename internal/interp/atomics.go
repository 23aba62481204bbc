package interp

import (
	"math"
	"math/bits"
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// atomicFunc returns the new value of a memory cell that contained old. c is the third
// operand of cas.
type atomicFunc func(old, b, c uint64) uint64

// atomicOp returns the function of an atomic operation on typ, or nil. Additions of
// floats in global memory flush subnormals; those in shared memory do not.
func atomicOp(name string, typ ptx.Type, space ptx.Space) atomicFunc {
	switch typ {
	case ptx.F16, ptx.F16X2, ptx.BF16, ptx.BF16X2:
		if name != "add" && name != "min" && name != "max" {
			return nil
		}
		return atomicHalf(name, typ)
	}
	switch name {
	case "and":
		return func(old, b, _ uint64) uint64 { return old & b }
	case "or":
		return func(old, b, _ uint64) uint64 { return old | b }
	case "xor":
		return func(old, b, _ uint64) uint64 { return old ^ b }
	case "exch":
		return func(_, b, _ uint64) uint64 { return b }
	case "cas":
		return func(old, b, c uint64) uint64 { return choose(old == b, c, old) }
	// inc and dec wrap at the operand, see "atom" in the PTX ISA.
	case "inc":
		return func(old, b, _ uint64) uint64 { return choose(old >= b, 0, old+1) }
	case "dec":
		return func(old, b, _ uint64) uint64 { return choose(old == 0 || old > b, b, old-1) }
	case "add":
		return atomicAdd(typ, space)
	case "min", "max":
		return atomicExtreme(name, typ)
	}
	return nil
}

// atomicAdd returns the addition of a type. Integers wrap; bits above the type are not
// stored.
func atomicAdd(typ ptx.Type, space ptx.Space) atomicFunc {
	switch typ {
	case ptx.F64:
		return func(old, b, _ uint64) uint64 {
			return math.Float64bits(math.Float64frombits(old) + math.Float64frombits(b))
		}
	case ptx.F32:
		f := func(v float32) float32 { return v }
		if space != ptx.Shared {
			f = flush
		}
		return func(old, b, _ uint64) uint64 {
			x, y := math.Float32frombits(uint32(old)), math.Float32frombits(uint32(b))
			return uint64(math.Float32bits(f(f(x) + f(y))))
		}
	}
	return func(old, b, _ uint64) uint64 { return old + b }
}

// atomicHalf is add, min or max on one or two 16-bit floats.
func atomicHalf(name string, typ ptx.Type) atomicFunc {
	h := halves{smallFloat: binary16}
	if typ == ptx.BF16 || typ == ptx.BF16X2 {
		h.smallFloat = bfloat16
	}
	f := h.binary(sumToOdd).f2
	if name != "add" {
		f = h.binary(extrema[float64]()[name].f2).f2
	}
	if typ.Size() == 2 {
		return func(old, b, _ uint64) uint64 { return uint64(f(uint16(old), uint16(b))) }
	}
	return func(old, b, _ uint64) uint64 {
		return uint64(pair(f(uint16(old), uint16(b)), f(uint16(old>>16), uint16(b>>16))))
	}
}

// atomicExtreme returns the minimum or maximum of an integer type.
func atomicExtreme(name string, typ ptx.Type) atomicFunc {
	less := func(a, b uint64) bool { return a < b }
	if typ.Signed() {
		size := typ.Size()
		less = func(a, b uint64) bool { return int64(signExtend(a, size, true)) < int64(signExtend(b, size, true)) }
	}
	if name == "min" {
		return func(old, b, _ uint64) uint64 { return choose(less(b, old), b, old) }
	}
	return func(old, b, _ uint64) uint64 { return choose(less(old, b), b, old) }
}

// atomicAccess executes an atomic operation lane by lane in ascending order.
//
// Concurrent blocks log their updates of global memory, which are applied in grid order
// when all blocks have ended; only operations without a used result get here in that case.
// A plain read and write is therefore enough. A sampled block that draws numbers from a
// counter draws for the blocks that it represents, see drawCount.
//
//go:norace
func atomicAccess(w *warp, in *inst) {
	n := in.x.bytes()
	b, c := element{in.b, int(n)}, element{in.c, int(n)}
	var sectors sectorSet
	changed, first := false, sighting{}
	for m := w.live; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		addr := w.address(in, i)
		p := w.locate(in, addr, n, i)
		if p == nil {
			return
		}
		sectors.add(addr, n)
		var third uint64
		if in.c != noSlot {
			third = w.lane(c, i)
		}
		// Concurrent blocks: the update is applied when all have ended.
		if w.tracking && in.x.isGlobal(addr) {
			w.eng.logUpdate(update{p, in, w.lane(b, i), third})
			continue
		}
		old := readCell(p, int(n))
		op := in.x.op
		// A generic address in shared memory.
		if in.x.inShared != nil && addr-sharedWindow < windowSize {
			op = in.x.inShared
		}
		by := w.lane(b, i)
		if w.eng.run.blockWeight > 1 && in.x.draws && strings.HasPrefix(in.x.atomic, "add.") {
			by *= w.eng.run.drawCount()
		}
		v := op(old, by, third)
		writeCell(p, int(n), v)
		w.setLane(element{in.d, int(n)}, i, old)
		if v != old {
			changed = true
		}
		if m == w.live {
			first = sighting{addr, old}
		}
	}
	w.eng.count.atomics += int64(bits.OnesCount32(w.live))
	w.countSectors(in, sectors.count)
	w.drewNumber = w.drewNumber || in.x.draws && changed
	if changed || w.tracking {
		w.polls = 0
	} else {
		w.observe(in, firstLane(w.live), first)
	}
}
