package interp

import (
	"math"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// blank returns an instruction without operands.
func blank() inst {
	return inst{d: noSlot, a: noSlot, b: noSlot, c: noSlot, guard: noSlot}
}

// newExtra returns an extra without operands.
func newExtra() *extra { return &extra{d2: noSlot, p: noSlot, e: noSlot, members: noSlot} }

// emit appends a lowered form of the current instruction, under its guard.
func (l *lowering) emit(in inst, c cost) *item {
	l.items = append(l.items, item{inst: in, place: l.here(), cost: c})
	it := &l.items[len(l.items)-1]
	if g := l.in.Guard; g.Reg != ptx.NoReg {
		it.guard, it.neg = l.register(g.Reg), g.Neg
	}
	return it
}

// register returns the vreg of a PTX register.
func (l *lowering) register(r ptx.RegID) slot {
	// The register is another name of a launch constant, see fold.
	if a := l.frame.alias[r]; a != noSlot {
		return a
	}
	return l.frame.first + slot(r)
}

// dest returns the register of a result of size bytes, 0 for a predicate.
func (l *lowering) dest(op *ptx.Operand, size int) (slot, error) {
	if op.Kind != ptx.OpReg && op.Kind != ptx.OpPair {
		return noSlot, l.fail("the destination is not a register")
	}
	// The sink: a register that nothing reads.
	if op.Reg == ptx.NoReg {
		return l.temp(size), nil
	}
	s := l.register(op.Reg)
	if got := l.vregs[s].size; got != size {
		return noSlot, l.fail("destination %s has %d bits, the result %d", l.frame.fn.Regs[op.Reg].Name, 8*got, 8*size)
	}
	return s, nil
}

// source returns the register of an operand of size bytes, 0 for a predicate. A literal is
// encoded as typ. Literals, addresses and special registers have registers of their own,
// filled before the kernel runs; a clock and an address in a frame are computed by a
// record.
func (l *lowering) source(op *ptx.Operand, size int, typ ptx.Type) (slot, error) {
	switch op.Kind {
	case ptx.OpReg:
		if op.Reg == ptx.NoReg || op.Neg {
			return noSlot, l.fail("the operand is not a source")
		}
		s := l.register(op.Reg)
		if got := l.vregs[s].size; got != size {
			return noSlot, l.fail("operand %s has %d bits, the operation needs %d", l.frame.fn.Regs[op.Reg].Name, 8*got, 8*size)
		}
		return s, nil
	case ptx.OpInt, ptx.OpFloat32, ptx.OpFloat64:
		return l.constant(size, literal(op, size, typ)), nil
	case ptx.OpSpecial:
		return l.special(op, size)
	case ptx.OpSymbol:
		return l.symbol(op, size)
	}
	return noSlot, l.fail("operand kind is not supported here")
}

// literal returns the bits of a literal of type typ, in a register of size bytes. Floats
// are converted to the size of the register, and an integer for a float is converted to
// one.
func literal(op *ptx.Operand, size int, typ ptx.Type) uint64 {
	v := uint64(op.Imm)
	switch {
	case op.Kind == ptx.OpFloat64 && size == 4:
		return uint64(math.Float32bits(float32(math.Float64frombits(v))))
	case op.Kind == ptx.OpFloat64 && size == 2:
		return uint64(half(math.Float64frombits(v)))
	case op.Kind == ptx.OpFloat32 && size == 8:
		return math.Float64bits(float64(math.Float32frombits(uint32(v))))
	case op.Kind == ptx.OpInt && typ == ptx.F32:
		return uint64(math.Float32bits(float32(op.Imm)))
	case op.Kind == ptx.OpInt && typ == ptx.F64:
		return math.Float64bits(float64(op.Imm))
	}
	return v
}

// special returns the register of a special register. A clock advances, so it is read by a
// record of its own. All others are launch or block constants:
//
//	%tid.x, %laneid      by lane, filled at the start of a launch
//	%ntid.x, %nsmid      one value, filled at the start of a launch
//	%ctaid.x, %smid      one value, filled at the start of a block
//	%clock, %globaltimer a record that reads the time
//	WARP_SZ              an immediate
func (l *lowering) special(op *ptx.Operand, size int) (slot, error) {
	if op.Name == "%is_explicit_cluster" {
		if size != 0 {
			return noSlot, l.fail("%s is a predicate", op.Name)
		}
		return l.constant(0, 0), nil
	}
	read, have := clocks[op.Name], 4
	kind := findSpecial(op.Name)
	switch {
	case read != nil && (op.Name == "%clock64" || op.Name == "%globaltimer"):
		have = 8
	case read != nil:
	case kind == noSpecial:
		return noSlot, l.fail("special register %s is not supported", op.Name)
	default:
		have = kind.width(op.Name)
	}
	// %gridid had 32 bits before PTX 3.0, and indices had 16 before PTX 2.0.
	narrow := size == 4 && kind == gridID || size == 2 && (kind.isIndex() || fourthElement(op.Name))
	if size != have && !narrow {
		return noSlot, l.fail("special register %s has %d bits, the operation needs %d", op.Name, 8*have, 8*size)
	}
	switch {
	case read != nil:
		return l.clock(read, size), nil
	case kind == gridID:
		l.k.sideEffects = true // it differs in the next launch
	case kind == warpSize:
		return l.constant(4, lanes), nil
	}
	return l.value(uniformKey{home: specialValue, size: size, special: kind}), nil
}

// clock emits a record that reads a clock. It ends its segment, so that the next reading is
// later by the time of the instructions in between.
func (l *lowering) clock(read func(w *warp) uint64, size int) slot {
	in := blank()
	in.d = l.temp(size)
	in.exec = func(w *warp, in *inst) {
		v := read(w)
		each(w.live, func(i int) { w.setLane(element{in.d, size}, i, v) })
	}
	l.k.sideEffects = true
	it := l.emit(in, costALU)
	it.cut = true
	return it.d
}

// symbol returns the address of a variable in its own space.
func (l *lowering) symbol(op *ptx.Operand, size int) (slot, error) {
	if op.Var == nil {
		if size != 8 {
			return noSlot, l.fail("the address of function %s needs a register of 64 bits", op.Name)
		}
		return l.constant(8, l.mod.calls.address[op.Name]), nil
	}
	if size != 4 && size != 8 {
		return noSlot, l.fail("the address of %s needs a register of 32 or 64 bits", op.Var.Name)
	}
	s, addend, _, err := l.addressOf(op.Var, op.Imm)
	switch {
	case err != nil:
		return s, err
	case l.vregs[s].home == framePointer:
		return l.frameAddress(s, addend, size), nil
	case size == 8:
		return s, nil
	}
	// A 32-bit address is the low half of the constant.
	key := l.vregs[s].uniformKey
	key.size = 4
	return l.value(key), nil
}

// frameAddress computes the address of a variable in a routine's frame.
func (l *lowering) frameAddress(base slot, addend uint64, size int) slot {
	r := blank()
	r.d, r.a = l.temp(size), base
	r.exec = lift1(func(fp uint64) uint64 { return fp + addend })
	if size == 4 {
		r.exec = lift1(func(fp uint64) uint32 { return uint32(fp + addend) })
	}
	return l.emit(r, costALU).d
}

// size returns the bytes of an operand's register, or fallback for a literal.
func (l *lowering) size(op *ptx.Operand, fallback int) int {
	if op.Kind == ptx.OpReg && op.Reg != ptx.NoReg {
		return l.vregs[l.register(op.Reg)].size
	}
	return fallback
}

// predicate returns a predicate operand, which may be negated.
func (l *lowering) predicate(op *ptx.Operand) (s slot, neg bool, err error) {
	if op.Kind == ptx.OpInt {
		return l.constant(0, uint64(op.Imm)), false, nil
	}
	plain := *op
	plain.Neg = false
	s, err = l.source(&plain, 0, ptx.Pred)
	return s, op.Neg, err
}

// destOrSink is dest, but noSlot for the sink.
func (l *lowering) destOrSink(op *ptx.Operand, size int) (slot, error) {
	if op.Kind == ptx.OpReg && op.Reg == ptx.NoReg {
		return noSlot, nil
	}
	return l.dest(op, size)
}

// second returns the second destination of d|p, or noSlot.
func (l *lowering) second(op *ptx.Operand) (slot, error) {
	if op.Kind != ptx.OpPair || op.Reg2 == ptx.NoReg {
		return noSlot, nil
	}
	s := l.register(op.Reg2)
	if l.vregs[s].size != 0 {
		return noSlot, l.fail("the second destination is not a predicate")
	}
	return s, nil
}

// types returns the types in an opcode, in order.
func types(in *ptx.Inst) []ptx.Type {
	var list []ptx.Type
	for _, s := range in.Suffix {
		if t, ok := ptx.ParseType(s); ok {
			list = append(list, t)
		}
	}
	return list
}

// has reports whether an opcode has a suffix.
func has(in *ptx.Inst, suffix string) bool {
	for _, s := range in.Suffix {
		if s == suffix {
			return true
		}
	}
	return false
}

// spaceOf returns the state space in an opcode, or Generic.
func spaceOf(in *ptx.Inst) ptx.Space {
	for _, s := range in.Suffix {
		if sp, ok := ptx.ParseSpace(s); ok {
			return sp
		}
	}
	return ptx.Generic
}
