package interp

import (
	"math"
	"strings"
)

// Arithmetic on 16-bit floats is computed in float64 and rounded once. Products of two
// 16-bit floats are exact in float64. Sums may not be, so they are first rounded to odd,
// see toOdd.

// addHalf registers f16 and bf16, and their packed forms lane by lane of the pair.
func addHalf(t opTable) {
	halves{
		ops: t, smallFloat: binary16, name: "f16",
		signs: flushed, sums: saturated, fused: append([]string{".relu", ".ftz.relu"}, saturated...), powers: flushed,
	}.add()
	halves{
		ops: t, smallFloat: bfloat16, name: "bf16",
		signs: unmodified, sums: unmodified, fused: []string{"", ".relu"}, powers: []string{".ftz"},
	}.add()
	addMixed(t, binary16, "f16")
	addMixed(t, bfloat16, "bf16")
}

// addMixed registers arithmetic in f32 whose 16-bit sources are widened first.
func addMixed(t opTable, s smallFloat, name string) {
	wide := func(v uint16) float32 { return float32(s.decode(uint32(v))) }
	for round, r := range roundings {
		add, fma := add32(r), fma32r(r)
		for _, m := range []string{"", ".sat"} {
			out := func(v float32) float32 { return v }
			if m != "" {
				out = saturate[float32]
			}
			reg := func(op string, exec handler) { t[opName(op+"."+round+".f32."+name, m)] = exec }
			reg("add", lift2(func(a uint16, c float32) float32 { return out(add(wide(a), c)) }))
			reg("sub", lift2(func(a uint16, c float32) float32 { return out(add(wide(a), -c)) }))
			reg("fma", lift3(func(a, b uint16, c float32) float32 { return out(fma(wide(a), wide(b), c)) }))
		}
	}
}

// halves registers the operations of one 16-bit format. The lists are the modifiers with
// which groups of operations exist.
type halves struct {
	ops opTable
	smallFloat
	name string

	// The modifiers of neg, abs, min and max; of add, sub and mul; of fma; of ex2.
	signs, sums, fused, powers []string
}

// add registers all operations, each also for pairs.
func (h halves) add() {
	h.register("add.rn", h.sums, h.binary(sumToOdd))
	h.register("sub.rn", h.sums, h.binary(func(a, b float64) float64 { return sumToOdd(a, -b) }))
	h.register("mul.rn", h.sums, h.binary(func(a, b float64) float64 { return a * b }))
	h.register("fma.rn", h.fused, h.ternary(func(a, b, c float64) float64 { return sumToOdd(float64(a*b), c) }))
	h.register("neg.rn", h.signs, scalar[uint16]{f1: func(a uint16) uint16 { return a ^ 1<<15 }})
	h.register("abs.rn", h.signs, scalar[uint16]{f1: func(a uint16) uint16 { return a &^ (1 << 15) }})
	for name, f := range extrema[float64]() {
		if f.f2 != nil {
			h.register(name+".rn", h.signs, h.binary(f.f2))
		}
	}
	h.register("tanh.approx", unmodified, h.unary(math.Tanh))
	h.register("ex2.approx", h.powers, h.unary(math.Exp2))
}

// in returns the value of 16 bits.
func (h halves) in(v uint16) float64 { return h.decode(uint32(v)) }

// out rounds to the nearest number of the format.
func (h halves) out(f float64) uint16 { return uint16(h.encode(f, toNearest)) }

// unary wraps an operation on float64.
func (h halves) unary(f func(a float64) float64) scalar[uint16] {
	return scalar[uint16]{f1: func(a uint16) uint16 { return h.out(f(h.in(a))) }}
}

// binary wraps an operation on float64.
func (h halves) binary(f func(a, b float64) float64) scalar[uint16] {
	return scalar[uint16]{f2: func(a, b uint16) uint16 { return h.out(f(h.in(a), h.in(b))) }}
}

// ternary wraps an operation on float64.
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
		h.ops[opName(name+"."+h.name+"x2", m)] = packed16(o).lift()
	}
}

// flush turns a subnormal to a zero of its sign.
func (h halves) flush(v uint16) uint16 {
	if exponent := uint16(1<<h.exp-1) << h.frac; v&exponent == 0 {
		return v & (1 << 15)
	}
	return v
}

// packed applies an operation to both halves of a register.
func packed[T, W any](o scalar[T], low, high func(W) T, join func(lo, hi T) W) scalar[W] {
	switch f1, f2, f3 := o.f1, o.f2, o.f3; {
	case f1 != nil:
		return scalar[W]{f1: func(a W) W { return join(f1(low(a)), f1(high(a))) }}
	case f2 != nil:
		return scalar[W]{f2: func(a, b W) W { return join(f2(low(a), low(b)), f2(high(a), high(b))) }}
	default:
		return scalar[W]{f3: func(a, b, c W) W { return join(f3(low(a), low(b), low(c)), f3(high(a), high(b), high(c))) }}
	}
}

// packed16 is packed for a register of 32 bits.
func packed16(o scalar[uint16]) scalar[uint32] {
	return packed(o, func(v uint32) uint16 { return uint16(v) }, func(v uint32) uint16 { return uint16(v >> 16) }, pair)
}

// pair joins two halves of a register.
func pair(lo, hi uint16) uint32 { return uint32(hi)<<16 | uint32(lo) }
