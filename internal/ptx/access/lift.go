package access

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// result returns the value that step i gives variable v, without regard to its guard. An
// instruction that is not analysed gives an unknown value with a reason.
func (s *ssa) result(v variable, bits uint8, i int) *term {
	l := lift{s, i, s.cfg.steps[i].in, s.blockOf[i]}
	if val := l.value(v, bits); val != nil {
		return val
	}
	return s.unknown(bits, l.block, s.reason(i, fmt.Sprintf("the index is a result of %s, which is not analysed", l.in.Opcode())))
}

// lift translates one instruction into terms. Operands are extended by their type before
// they are used, so that termMul of two extended 32-bit registers is mul.wide as well as
// mul.lo:
//
//	mul.wide.s32 %rd1, %r1, 4      mul(sext32(%r1), 4), 64 bits
//	add.s32      %r2, %r1, 1       add(%r1, 1), 32 bits: only the low 32 bits count
//	cvt.s64.s32  %rd2, %r2         sext32(%r2), 64 bits
type lift struct {
	*ssa
	i     int
	in    *ptx.Inst
	block int32
}

// op returns a new term.
func (l lift) op(op termOp, bits uint8, args ...*term) *term {
	return l.make(term{op: op, bits: bits, block: l.block, args: args})
}

// ext extends the low bits of v to 64 bits.
func (l lift) ext(v *term, bits uint8, signed bool) *term {
	if bits >= 64 && v.bits >= 64 {
		return v
	}
	if k := v.resolved(); k.op == termConst {
		return l.imm(point(k.imm).extend(bits, signed).lo)
	}
	op := termZExt
	if signed {
		op = termSExt
	}
	return l.make(term{op: op, bits: 64, block: l.block, imm: int64(bits), args: []*term{v}})
}

// imm returns a constant of 64 bits.
func (l lift) imm(x int64) *term { return l.constant(x, 64, l.block) }

// arg returns source operand n, of the given number of bits.
func (l lift) arg(n int, bits uint8) *term {
	if n >= len(l.in.Args) {
		return l.unknown(bits, l.block, nil)
	}
	return l.operand(&l.in.Args[n], bits, l.i)
}

// typed returns source operand n, extended by the signedness of type t.
func (l lift) typed(n int, t ptx.Type) *term {
	bits := uint8(8 * t.Size())
	return l.ext(l.arg(n, bits), bits, t.Signed())
}

// has reports whether the instruction has a suffix.
func (l lift) has(suffix string) bool { return slices.Contains(l.in.Suffix, suffix) }

// types returns the type suffixes, in order.
func (l lift) types() (list []ptx.Type) {
	for _, s := range l.in.Suffix {
		if t, ok := ptx.ParseType(s); ok {
			list = append(list, t)
		}
	}
	return list
}

// value returns the value that the instruction gives v. It is nil for instructions that
// are not analysed: floating point, saturation, carries, and opcodes that do not occur in
// address arithmetic.
func (l lift) value(v variable, bits uint8) *term {
	switch l.in.Name {
	case "ld", "ldu":
		return l.load(v, bits)
	case "st":
		return l.store(v, bits)
	case "mov":
		return l.mov(v, bits)
	case "setp":
		return l.setp(v)
	}
	types := l.types()
	switch {
	case len(types) == 0:
		return nil
	case types[0] == ptx.Pred:
		return l.logic()
	case !types[0].Integer() || !types[len(types)-1].Integer():
		return nil
	}
	if l.has("sat") || l.has("cc") && l.in.Name != "add" && l.in.Name != "sub" {
		return nil
	}
	return l.integer(types, bits)
}

// integer returns the result of integer arithmetic of type types[0], in a
// register of the given bits.
func (l lift) integer(types []ptx.Type, bits uint8) *term {
	t := types[0]
	w := uint8(8 * t.Size())
	switch l.in.Name {
	case "cvta":
		return l.arg(1, bits)
	case "cvt":
		src := types[len(types)-1]
		return l.ext(l.typed(1, src), w, t.Signed())
	case "add":
		return l.op(termAdd, bits, l.arg(1, w), l.arg(2, w))
	case "sub":
		return l.sub(bits, l.arg(1, w), l.arg(2, w))
	case "mul":
		return l.product(t, bits)
	case "mad":
		if p := l.product(t, bits); p != nil {
			return l.op(termAdd, bits, p, l.arg(3, bits))
		}
	case "neg":
		return l.op(termSub, bits, l.imm(0), l.arg(1, w))
	case "not":
		return l.op(termNot, bits, l.arg(1, w))
	case "abs":
		return l.op(termAbs, bits, l.typed(1, t))
	case "shl":
		return l.op(termShl, bits, l.arg(1, w), l.ext(l.arg(2, 32), 32, false))
	case "shr":
		return l.mixed(termShr, bits, t, l.typed(1, t), l.ext(l.arg(2, 32), 32, false))
	case "and", "or", "xor":
		op := map[string]termOp{"and": termAnd, "or": termOr, "xor": termXor}[l.in.Name]
		return l.bitwise(op, bits, l.arg(1, w), l.arg(2, w), w)
	case "min", "max", "div", "rem":
		if len(l.in.Suffix) > 1 { // min.relu and its like
			return nil
		}
		op := map[string]termOp{"min": termMin, "max": termMax, "div": termDiv, "rem": termRem}[l.in.Name]
		return l.mixed(op, bits, t, l.typed(1, t), l.typed(2, t))
	case "selp":
		return l.op(termSelect, bits, l.arg(3, 1), l.arg(1, w), l.arg(2, w))
	case "slct":
		return l.op(termSelect, bits, l.unknown(1, l.block, nil), l.arg(1, w), l.arg(2, w))
	case "bfe":
		return l.field(t, bits)
	// The result is unknown, but small.
	case "popc", "clz":
		return l.ext(l.unknown(32, l.block, nil), 8, false) // at most 64
	}
	return nil
}

// mixed returns an operation that differs between signed and unsigned numbers.
// The operands are extended already, so only 64-bit operations need the flag.
func (l lift) mixed(op termOp, bits uint8, t ptx.Type, a, b *term) *term {
	v := l.op(op, bits, a, b)
	v.unsigned = !t.Signed() && t.Size() == 8
	return v
}

// sub recognises x - (x & 2^k-1), by which compilers round a count down to
// whole iterations of an unrolled loop. It becomes x & -2^k, which is monotone.
func (l lift) sub(bits uint8, a, b *term) *term {
	if m := b.resolved(); m.op == termAnd {
		for n, arg := range m.args {
			mask := m.args[1-n].resolved()
			if mask.op == termConst && isMask(mask.imm) && arg.resolved().stripExt(mask.imm) == a.resolved() {
				return l.bitwise(termAnd, bits, a, l.imm(^mask.imm), bits)
			}
		}
	}
	return l.op(termSub, bits, a, b)
}

// stripExt removes extensions that change none of the bits in mask.
func (v *term) stripExt(mask int64) *term {
	for (v.op == termSExt || v.op == termZExt) && mask>>v.imm == 0 {
		v = v.args[0].resolved()
	}
	return v
}

// isMask reports whether x is 2^k-1.
func isMask(x int64) bool { return x > 0 && x&(x+1) == 0 }

// bitwise returns an operation on unsigned patterns. A constant keeps its sign, which
// shows whether its high bits are set.
func (l lift) bitwise(op termOp, bits uint8, a, b *term, w uint8) *term {
	pattern := func(v *term) *term {
		if v.resolved().op == termConst {
			return v
		}
		return l.ext(v, w, false)
	}
	return l.op(op, bits, pattern(a), pattern(b))
}

// product returns mul.lo, mul.hi or mul.wide, alone or as the first half of
// mad.
func (l lift) product(t ptx.Type, bits uint8) *term {
	w := uint8(8 * t.Size())
	switch {
	case l.has("lo"):
		return l.op(termMul, bits, l.arg(1, w), l.arg(2, w))
	case l.has("wide"):
		return l.op(termMul, bits, l.typed(1, t), l.typed(2, t))
	case l.has("hi") && w < 64:
		v := l.op(termMulHi, bits, l.typed(1, t), l.typed(2, t))
		v.imm = int64(w)
		return v
	}
	return nil
}

// field returns bfe for an unsigned field at a constant position.
func (l lift) field(t ptx.Type, bits uint8) *term {
	at, n := l.arg(2, 32).resolved(), l.arg(3, 32).resolved()
	if t.Signed() || at.op != termConst || n.op != termConst || at.imm < 0 || at.imm > 63 || n.imm < 0 || n.imm > 31 {
		return nil
	}
	shifted := l.mixed(termShr, bits, t, l.typed(1, t), l.imm(at.imm))
	return l.op(termAnd, bits, shifted, l.imm(1<<n.imm-1))
}

// mov copies a register, packs {a, b} into a wider one, or unpacks one. The first element
// holds the low bits.
func (l lift) mov(v variable, bits uint8) *term {
	dst, src := &l.in.Args[0], &l.in.Args[1]
	if l.types()[0] == ptx.Pred {
		return l.arg(1, 1)
	}
	switch {
	case dst.Kind == ptx.OpVector:
		n := l.element(dst, v)
		whole := l.ext(l.arg(1, 64), uint8(len(dst.Elems))*bits, false)
		shifted := l.op(termShr, bits, whole, l.imm(int64(n)*int64(bits)))
		shifted.unsigned = true
		return shifted
	case src.Kind == ptx.OpVector && len(src.Elems) > 0:
		w := bits / uint8(len(src.Elems))
		// {a, b} is a + b·2^w. The last element may be negative, the others are patterns.
		sum := l.imm(0)
		for n := range src.Elems {
			part := l.ext(l.operand(&src.Elems[n], w, l.i), w, n == len(src.Elems)-1)
			sum = l.op(termAdd, bits, sum, l.op(termMul, bits, part, l.imm(1<<(n*int(w)))))
		}
		return sum
	case src.Kind == ptx.OpSymbol || src.Kind == ptx.OpFloat32 || src.Kind == ptx.OpFloat64:
		return nil
	}
	return l.arg(1, bits)
}

// element returns the index of v in a vector operand, the last one if it occurs
// twice.
func (l lift) element(op *ptx.Operand, v variable) int {
	base := l.cfg.steps[l.i].frame.base
	for n := len(op.Elems) - 1; n > 0; n-- {
		if r := op.Elems[n].Reg; r != ptx.NoReg && base+variable(r) == v {
			return n
		}
	}
	return 0
}

// load returns the value of a kernel parameter or .param cell. A value from other memory
// is unknown, but its width bounds it.
func (l lift) load(v variable, bits uint8) *term {
	t, n := memType(l.in), 0
	if t == ptx.NoType {
		return nil
	}
	if dst := &l.in.Args[0]; dst.Kind == ptx.OpVector {
		n = l.element(dst, v)
	}
	w := uint8(8 * t.Size())
	if cells := l.cellsOf(l.cfg.steps[l.i].frame, l.in); cells != nil && n < len(cells) {
		c := cells[n]
		if p := l.kernelParam(c.paramVar); p >= 0 {
			return l.param(p, c, t, bits)
		}
		if l.untracked[c.paramVar] {
			return nil
		}
		return l.extended(l.before(l.cells[c], w, l.i), t, bits)
	}
	why := l.reason(l.i, "the index was loaded from memory")
	return l.extended(l.unknown(w, l.block, why), t, bits)
}

// extended fits a loaded value of type t into a wider register.
func (l lift) extended(v *term, t ptx.Type, bits uint8) *term {
	w := uint8(8 * t.Size())
	if w >= bits || t.Float() {
		return v
	}
	return l.ext(v, w, t.Signed())
}

// param returns the term for some bytes of kernel parameter p.
func (l lift) param(p int, c cell, t ptx.Type, bits uint8) *term {
	if c.off < 0 || c.off+int64(c.size) > l.kernel.Params[p].Size() || c.size > 8 {
		return nil
	}
	ref := paramRef{param: int32(p), off: int32(c.off), size: uint8(c.size), signed: t.Signed() || uint8(8*c.size) >= bits}
	return l.make(term{op: termParam, bits: bits, block: l.block, param: ref, name: l.kernel.Params[p].Name})
}

// store returns the value that a store to .param memory writes to the cell v.
func (l lift) store(v variable, bits uint8) *term {
	src := &l.in.Args[1]
	for n, c := range l.cellsOf(l.cfg.steps[l.i].frame, l.in) {
		switch {
		case l.cells[c] != v:
		case src.Kind == ptx.OpVector && n < len(src.Elems):
			return l.operand(&src.Elems[n], bits, l.i)
		case src.Kind == ptx.OpFloat32 || src.Kind == ptx.OpFloat64 || src.Kind == ptx.OpSymbol:
			return nil
		default:
			return l.operand(src, bits, l.i)
		}
	}
	return nil
}

// comparisons are the comparisons of setp on integers. lo, ls, hi and hs compare as
// unsigned.
var comparisons = map[string]struct {
	cmp      comparison
	unsigned bool
}{
	"eq": {cmpEQ, false}, "ne": {cmpNE, false},
	"lt": {cmpLT, false}, "le": {cmpLE, false}, "gt": {cmpGT, false}, "ge": {cmpGE, false},
	"lo": {cmpLT, true}, "ls": {cmpLE, true}, "hi": {cmpGT, true}, "hs": {cmpGE, true},
}

// setp returns p, or q of p|q, of "setp.cmp{.boolop}.type p|q, a, b, c". q is the
// negation of the comparison, combined with c in the same way.
func (l lift) setp(v variable) *term {
	types := l.types()
	if len(types) == 0 || types[0].Float() || len(l.in.Suffix) == 0 {
		return nil
	}
	t := types[0]
	c, ok := comparisons[l.in.Suffix[0]]
	if !ok {
		return nil
	}
	signed := t.Signed() && !c.unsigned
	w := uint8(8 * t.Size())
	p := l.op(termCmp, 1, l.ext(l.arg(1, w), w, signed), l.ext(l.arg(2, w), w, signed))
	p.cmp, p.unsigned = c.cmp, !signed && w == 64
	if r := l.in.Args[0].Reg2; l.in.Args[0].Kind == ptx.OpPair && r != ptx.NoReg && l.cfg.steps[l.i].frame.base+variable(r) == v {
		p = l.not(p, l.block)
	}
	switch {
	case l.has("and"):
		return l.op(termLogicAnd, 1, p, l.arg(3, 1))
	case l.has("or"):
		return l.op(termLogicOr, 1, p, l.arg(3, 1))
	case l.has("xor"):
		return nil
	}
	return p
}

// logic combines predicates.
func (l lift) logic() *term {
	switch l.in.Name {
	case "and":
		return l.op(termLogicAnd, 1, l.arg(1, 1), l.arg(2, 1))
	case "or":
		return l.op(termLogicOr, 1, l.arg(1, 1), l.arg(2, 1))
	case "not":
		return l.not(l.arg(1, 1), l.block)
	}
	return nil
}
