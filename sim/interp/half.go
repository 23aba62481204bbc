package interp

import (
	"math"
	"strings"
)

// Arithmetic in 16 bits is done in float64 and rounded once: products of two are
// exact there, and sums are rounded to odd first.

// addHalf registers f16 and bf16, and their packed forms lane by lane of the pair.
func addHalf(t opTable) {
	halves{t, binary16, "f16", flushed}.add()
	halves{t, bfloat16, "bf16", nil}.add()
}

// flushed are the modifiers of a type that has .ftz.
var flushed = []string{"", ".ftz"}

// halves registers the operations of one 16-bit format.
type halves struct {
	ops opTable
	smallFloat
	name string
	ftz  []string // modifiers of the operations that could flush
}

func (h halves) add() {
	saturating := append([]string{".sat", ".ftz.sat"}, h.ftz...)
	plain := h.ftz
	relu := append([]string{".relu", ".ftz.relu"}, saturating...)
	if h.ftz == nil {
		plain, saturating, relu = []string{""}, []string{""}, []string{"", ".relu"}
	}
	h.register("add.rn", saturating, h.binary(sumToOdd))
	h.register("sub.rn", saturating, h.binary(func(a, b float64) float64 { return sumToOdd(a, -b) }))
	h.register("mul.rn", saturating, h.binary(func(a, b float64) float64 { return a * b }))
	h.register("fma.rn", relu, h.ternary(func(a, b, c float64) float64 { return sumToOdd(float64(a*b), c) }))
	h.register("neg.rn", plain, scalar[uint16]{f1: func(a uint16) uint16 { return a ^ 1<<15 }})
	h.register("abs.rn", plain, scalar[uint16]{f1: func(a uint16) uint16 { return a &^ (1 << 15) }})
	for name, f := range extrema[float64]() {
		if f.f2 != nil {
			h.register(name+".rn", plain, h.binary(f.f2))
		}
	}
	h.register("tanh.approx", []string{""}, h.unary(math.Tanh))
	if h.ftz == nil {
		plain = []string{".ftz"} // ex2 has no other form for bf16
	}
	h.register("ex2.approx", plain, h.unary(math.Exp2))
}

func (h halves) in(v uint16) float64  { return h.decode(uint32(v)) }
func (h halves) out(f float64) uint16 { return uint16(h.encode(f, toNearest)) }

func (h halves) unary(f func(a float64) float64) scalar[uint16] {
	return scalar[uint16]{f1: func(a uint16) uint16 { return h.out(f(h.in(a))) }}
}

func (h halves) binary(f func(a, b float64) float64) scalar[uint16] {
	return scalar[uint16]{f2: func(a, b uint16) uint16 { return h.out(f(h.in(a), h.in(b))) }}
}

func (h halves) ternary(f func(a, b, c float64) float64) scalar[uint16] {
	return scalar[uint16]{f3: func(a, b, c uint16) uint16 { return h.out(f(h.in(a), h.in(b), h.in(c))) }}
}

// register adds an operation with each of the modifiers.
func (h halves) register(name string, modifiers []string, op scalar[uint16]) {
	same := func(v uint16) uint16 { return v }
	for _, m := range modifiers {
		o := op
		if strings.Contains(m, ".ftz") {
			o = o.around(h.flush, h.flush)
		}
		switch {
		case strings.HasSuffix(m, ".sat"):
			o = o.around(same, func(v uint16) uint16 { return h.out(saturate(h.in(v))) })
		case strings.HasSuffix(m, ".relu"):
			o = o.around(same, func(v uint16) uint16 { return h.out(relu(h.in(v))) })
		}
		h.ops[opName(name+"."+h.name, m)] = o.lift()
		h.ops[opName(name+"."+h.name+"x2", m)] = packed(o).lift()
	}
}

// flush turns a subnormal to a zero of its sign.
func (h halves) flush(v uint16) uint16 {
	if exponent := uint16(1<<h.exp-1) << h.frac; v&exponent == 0 {
		return v & (1 << 15)
	}
	return v
}

// packed does an operation on both halves of a register.
func packed(o scalar[uint16]) scalar[uint32] {
	switch f1, f2, f3 := o.f1, o.f2, o.f3; {
	case f1 != nil:
		return scalar[uint32]{f1: func(a uint32) uint32 { return pair(f1(uint16(a)), f1(uint16(a>>16))) }}
	case f2 != nil:
		return scalar[uint32]{f2: func(a, b uint32) uint32 {
			return pair(f2(uint16(a), uint16(b)), f2(uint16(a>>16), uint16(b>>16)))
		}}
	default:
		return scalar[uint32]{f3: func(a, b, c uint32) uint32 {
			return pair(f3(uint16(a), uint16(b), uint16(c)), f3(uint16(a>>16), uint16(b>>16), uint16(c>>16)))
		}}
	}
}

func pair(lo, hi uint16) uint32 { return uint32(hi)<<16 | uint32(lo) }
