package interp

import (
	"math"
	"strings"
)

// scalar is an operation on one lane. Exactly one function is set, by the number of
// sources. Modifiers wrap the function, and only the result is lifted over the lanes.
type scalar[T any] struct {
	f1 func(a T) T
	f2 func(a, b T) T
	f3 func(a, b, c T) T
}

// lift returns the handler that applies the operation to all live lanes.
func (o scalar[T]) lift() handler {
	switch {
	case o.f1 != nil:
		return lift1(o.f1)
	case o.f2 != nil:
		return lift2(o.f2)
	}
	return lift3(o.f3)
}

// around wraps the operation: it applies in to every source and out to the result.
func (o scalar[T]) around(in, out func(T) T) scalar[T] {
	switch f1, f2, f3 := o.f1, o.f2, o.f3; {
	case f1 != nil:
		return scalar[T]{f1: func(a T) T { return out(f1(in(a))) }}
	case f2 != nil:
		return scalar[T]{f2: func(a, b T) T { return out(f2(in(a), in(b))) }}
	default:
		return scalar[T]{f3: func(a, b, c T) T { return out(f3(in(a), in(b), in(c))) }}
	}
}

// opName returns the key of a float operation, "name.rounding.type": the name includes
// approx and full, and the modifiers are ".0" if there are none.
func opName(name, modifiers string) string {
	if modifiers == "" {
		modifiers = ".0"
	}
	return name + modifiers
}

// The sets of modifiers of operations.
var (
	unmodified = []string{""}
	flushed    = []string{"", ".ftz"}
	saturated  = []string{"", ".ftz", ".sat", ".ftz.sat"}
)

// addFloat32 registers the operations on f32. Each exists in four roundings, and most with
// .ftz and .sat:
//
//	key "op.rounding.f32.modifiers"       add.rz.f32.ftz.sat
//
//	around(flush, flush)                  .ftz: subnormal sources and results become 0
//	around(identity, saturate)            .sat: results are clamped to [0, 1]
func addFloat32(t opTable) {
	for name, r := range roundings {
		for op, f := range map[string]scalar[float32]{
			"add": {f2: add32(r)},
			"sub": {f2: func(a, b float32) float32 { return add32(r)(a, -b) }},
			"mul": {f2: mul32(r)},
			"fma": {f3: fma32r(r)},
		} {
			register32(t, op+"."+name, saturated, f)
			registerPairs(t, op, name, f)
		}
		register32(t, "mad."+name, saturated, scalar[float32]{f3: fma32r(r)})
		register32(t, "div."+name, flushed, scalar[float32]{f2: div32(r)})
		register32(t, "rcp."+name, flushed, scalar[float32]{f1: func(a float32) float32 { return div32(r)(1, a) }})
		register32(t, "sqrt."+name, flushed, scalar[float32]{f1: sqrt32(r)})
	}
	register32(t, "neg.rn", flushed, scalar[float32]{f1: func(a float32) float32 { return -a }})
	register32(t, "abs.rn", flushed, scalar[float32]{f1: func(a float32) float32 {
		return math.Float32frombits(math.Float32bits(a) &^ (1 << 31))
	}})
	for name, op := range extrema[float32]() {
		register32(t, name+".rn", flushed, op)
	}
	register32(t, "copysign.rn", unmodified, scalar[float32]{f2: func(a, b float32) float32 {
		return math.Float32frombits(math.Float32bits(a)&(1<<31) | math.Float32bits(b)&^(1<<31))
	}})
	for name, f := range approximations {
		register32(t, name+".approx", flushed, scalar[float32]{f1: func(a float32) float32 { return float32(f(float64(a))) }})
	}
	register32(t, "div.full", flushed, scalar[float32]{f2: div32(toNearest)})
	register32(t, "div.approx", flushed, scalar[float32]{f2: divideApprox})
}

// register32 adds an operation with each of the modifiers.
func register32(t opTable, name string, modifiers []string, op scalar[float32]) {
	for _, m := range modifiers {
		o := op
		if strings.Contains(m, ".ftz") {
			o = o.around(flush, flush)
		}
		if strings.HasSuffix(m, ".sat") {
			o = o.around(func(a float32) float32 { return a }, saturate[float32])
		}
		t[opName(name+".f32", m)] = o.lift()
	}
}

// registerPairs adds the form on two floats in one register.
func registerPairs(t opTable, op, round string, f scalar[float32]) {
	for m, f := range map[string]scalar[float32]{"": f, ".ftz": f.around(flush, flush)} {
		exec := packed(f, lowFloat, highFloat, pairFloats).lift()
		t[op+"."+round+m+".f32x2"] = exec
		if round == "rn" {
			t[op+m+".f32x2"] = exec
		}
	}
}

// lowFloat returns the lower float of a pair.
func lowFloat(v uint64) float32 { return math.Float32frombits(uint32(v)) }

// highFloat returns the upper float of a pair.
func highFloat(v uint64) float32 { return math.Float32frombits(uint32(v >> 32)) }

// pairFloats joins two floats to a pair.
func pairFloats(lo, hi float32) uint64 {
	return uint64(math.Float32bits(hi))<<32 | uint64(math.Float32bits(lo))
}

// addFloat64 registers the operations on f64, which have no .ftz and .sat.
func addFloat64(t opTable) {
	reg := func(name string, op scalar[float64]) { t[opName(name+".f64", "")] = op.lift() }
	for name, r := range roundings {
		reg("add."+name, scalar[float64]{f2: add64(r)})
		reg("sub."+name, scalar[float64]{f2: func(a, b float64) float64 { return add64(r)(a, -b) }})
		reg("mul."+name, scalar[float64]{f2: mul64(r)})
		reg("fma."+name, scalar[float64]{f3: fma64r(r)})
		reg("mad."+name, scalar[float64]{f3: fma64r(r)})
		reg("div."+name, scalar[float64]{f2: div64(r)})
		reg("rcp."+name, scalar[float64]{f1: func(a float64) float64 { return div64(r)(1, a) }})
		reg("sqrt."+name, scalar[float64]{f1: sqrt64(r)})
	}
	reg("neg.rn", scalar[float64]{f1: func(a float64) float64 { return -a }})
	reg("abs.rn", scalar[float64]{f1: math.Abs})
	reg("min.rn", scalar[float64]{f2: minNum[float64]})
	reg("max.rn", scalar[float64]{f2: maxNum[float64]})
	reg("copysign.rn", scalar[float64]{f2: withSign[float64]})
	reg("rsqrt.approx", scalar[float64]{f1: approximations["rsqrt"]})
	for _, name := range []string{"rcp", "rsqrt"} {
		t[opName(name+".approx.f64", ".ftz")] = lift1(seed(approximations[name]))
	}
}

// approximations are the functions with an .approx form. They are computed in float64
// and rounded once, which is within the error bounds of PTX.
var approximations = map[string]func(a float64) float64{
	"ex2": math.Exp2, "lg2": math.Log2, "sin": math.Sin, "cos": math.Cos, "tanh": math.Tanh, "sqrt": math.Sqrt,
	"rcp":   func(a float64) float64 { return 1 / a },
	"rsqrt": func(a float64) float64 { return 1 / math.Sqrt(a) },
}

// seed is an approximation that reads and returns only the upper 32 bits.
func seed(f func(a float64) float64) func(a float64) float64 {
	return func(a float64) float64 { return high(f(high(a))) }
}

// high clears the lower word and flushes subnormals.
func high(a float64) float64 {
	u := math.Float64bits(a) &^ allLanes
	if u&(0x7ff<<52) == 0 {
		u &= 1 << 63
	}
	return math.Float64frombits(u)
}

// divideApprox returns a times the reciprocal of b, which is 0 above 2^126.
func divideApprox(a, b float32) float32 {
	if m := magnitude(b); m > 0x1p126 && m <= math.MaxFloat32 {
		return a * withSign(b, 0)
	}
	return a / b
}

// float is a floating-point type of Go.
type float interface{ float32 | float64 }

// extrema returns the forms of min and max by name. Those with three sources end in
// "3".
func extrema[T float]() map[string]scalar[T] {
	m := map[string]scalar[T]{}
	for name, pick := range map[string]func(a, b T) T{
		"min": minNum[T], "max": maxNum[T],
		"min.NaN": func(a, b T) T { return min(a, b) }, "max.NaN": func(a, b T) T { return max(a, b) },
	} {
		m[name] = scalar[T]{f2: pick}
		m[name+".xorsign.abs"] = scalar[T]{f2: func(a, b T) T {
			v := pick(magnitude(a), magnitude(b))
			return withSign(withSign(a, 1)*withSign(b, 1), v)
		}}
		m[name+"3"] = scalar[T]{f3: func(a, b, c T) T { return pick(pick(a, b), c) }}
		m[name+".abs3"] = scalar[T]{f3: func(a, b, c T) T { return pick(pick(magnitude(a), magnitude(b)), magnitude(c)) }}
	}
	return m
}

// minNum returns the operand that is not a NaN; -0 is less than +0.
func minNum[T float](a, b T) T {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	}
	return min(a, b)
}

// maxNum returns the operand that is not a NaN; +0 is greater than -0.
func maxNum[T float](a, b T) T {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	}
	return max(a, b)
}

// magnitude returns |a|.
func magnitude[T float](a T) T { return T(math.Abs(float64(a))) }

// withSign is copysign with the operands of PTX: the sign of a, the magnitude of b.
func withSign[T float](a, b T) T { return T(math.Copysign(float64(b), float64(a))) }

// flush is .ftz: a subnormal becomes a zero of its sign.
func flush(a float32) float32 {
	if u := math.Float32bits(a); u&0x7f800000 == 0 {
		return math.Float32frombits(u & (1 << 31))
	}
	return a
}

// saturate is .sat: into [0,1], NaN to +0.
func saturate[T float](a T) T {
	switch {
	case !(a > 0):
		return 0
	case a > 1:
		return 1
	}
	return a
}

// relu is .relu: at least +0, and NaN stays.
func relu(a float64) float64 {
	if a <= 0 {
		return 0
	}
	return a
}
