package interp

import (
	"math"
)

// Operations on float32 are registered as scalar functions first: the modifiers
// .ftz and .sat wrap a function, and only the result is lifted over the lanes.
type floatOp struct {
	f1 func(a float32) float32
	f2 func(a, b float32) float32
	f3 func(a, b, c float32) float32
}

// floats maps "name.rounding.type" to its scalar function; the name includes
// approx and full.
var floats = map[string]floatOp{}

func addFloat32(t opTable) {
	for name, r := range roundings {
		floats["add."+name+".f32"] = floatOp{f2: add32(r)}
		floats["sub."+name+".f32"] = floatOp{f2: func(a, b float32) float32 { return add32(r)(a, -b) }}
		floats["mul."+name+".f32"] = floatOp{f2: mul32(r)}
		floats["div."+name+".f32"] = floatOp{f2: div32(r)}
		floats["fma."+name+".f32"] = floatOp{f3: fma32r(r)}
		floats["mad."+name+".f32"] = floatOp{f3: fma32r(r)}
		floats["sqrt."+name+".f32"] = floatOp{f1: sqrt32(r)}
		floats["rcp."+name+".f32"] = floatOp{f1: func(a float32) float32 { return div32(r)(1, a) }}
	}
	addApprox32()
	for name, f := range map[string]func(a float32) float32{
		"neg": func(a float32) float32 { return -a },
		"abs": func(a float32) float32 { return math.Float32frombits(math.Float32bits(a) &^ (1 << 31)) },
	} {
		floats[name+".rn.f32"] = floatOp{f1: f}
	}
	floats["min.rn.f32"] = floatOp{f2: minNum[float32]}
	floats["max.rn.f32"] = floatOp{f2: maxNum[float32]}
	floats["min.NaN.rn.f32"] = floatOp{f2: func(a, b float32) float32 { return min(a, b) }}
	floats["max.NaN.rn.f32"] = floatOp{f2: func(a, b float32) float32 { return max(a, b) }}
	floats["copysign.rn.f32"] = floatOp{f2: func(a, b float32) float32 {
		return math.Float32frombits(math.Float32bits(a)&(1<<31) | math.Float32bits(b)&^(1<<31))
	}}
	for name, op := range floats {
		t[name+".0"] = op.lift(false, false)
		t[name+".ftz"] = op.lift(true, false)
		t[name+".sat"] = op.lift(false, true)
		t[name+".ftz.sat"] = op.lift(true, true)
	}
}

// addApprox32 registers the approximate functions. They are computed in float64
// and rounded once, which is inside the bounds PTX gives.
func addApprox32() {
	wide := func(f func(float64) float64) floatOp {
		return floatOp{f1: func(a float32) float32 { return float32(f(float64(a))) }}
	}
	floats["ex2.approx.f32"] = wide(math.Exp2)
	floats["lg2.approx.f32"] = wide(math.Log2)
	floats["sin.approx.f32"] = wide(math.Sin)
	floats["cos.approx.f32"] = wide(math.Cos)
	floats["tanh.approx.f32"] = wide(math.Tanh)
	floats["sqrt.approx.f32"] = wide(math.Sqrt)
	floats["rsqrt.approx.f32"] = wide(func(a float64) float64 { return 1 / math.Sqrt(a) })
	floats["rcp.approx.f32"] = wide(func(a float64) float64 { return 1 / a })
	div := floatOp{f2: func(a, b float32) float32 { return a / b }}
	floats["div.full.f32"] = div
	floats["div.approx.f32"] = floatOp{f2: divideApprox}
}

// divideApprox is a times the reciprocal of b, which is 0 above 2^126.
func divideApprox(a, b float32) float32 {
	if m := math.Abs(float64(b)); m > 0x1p126 && !math.IsInf(m, 0) {
		return a * float32(math.Copysign(0, float64(b)))
	}
	return a / b
}

// minNum returns the operand that is a number; -0 is less than +0.
func minNum[T float32 | float64](a, b T) T {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	}
	return min(a, b)
}

func maxNum[T float32 | float64](a, b T) T {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	}
	return max(a, b)
}

// flush is .ftz: a subnormal becomes a zero of its sign.
func flush(a float32) float32 {
	if u := math.Float32bits(a); u&0x7f800000 == 0 {
		return math.Float32frombits(u & (1 << 31))
	}
	return a
}

// saturate is .sat: into [0,1], NaN to +0.
func saturate[T float32 | float64](a T) T {
	switch {
	case !(a > 0):
		return 0
	case a > 1:
		return 1
	}
	return a
}

func (o floatOp) lift(ftz, sat bool) handler {
	in := func(a float32) float32 { return a }
	out := in
	if ftz {
		in = flush
	}
	switch {
	case ftz && sat:
		out = func(a float32) float32 { return saturate(flush(a)) }
	case ftz:
		out = flush
	case sat:
		out = saturate[float32]
	}
	plain := !ftz && !sat
	switch f1, f2, f3 := o.f1, o.f2, o.f3; {
	case f1 != nil && plain:
		return lift1(f1)
	case f2 != nil && plain:
		return lift2(f2)
	case f3 != nil && plain:
		return lift3(f3)
	case f1 != nil:
		return lift1(func(a float32) float32 { return out(f1(in(a))) })
	case f2 != nil:
		return lift2(func(a, b float32) float32 { return out(f2(in(a), in(b))) })
	default:
		return lift3(func(a, b, c float32) float32 { return out(f3(in(a), in(b), in(c))) })
	}
}

func addFloat64(t opTable) {
	for name, r := range roundings {
		t["add."+name+".f64.0"] = lift2(add64(r))
		t["sub."+name+".f64.0"] = lift2(func(a, b float64) float64 { return add64(r)(a, -b) })
		t["mul."+name+".f64.0"] = lift2(mul64(r))
		t["div."+name+".f64.0"] = lift2(div64(r))
		t["fma."+name+".f64.0"] = lift3(fma64r(r))
		t["mad."+name+".f64.0"] = lift3(fma64r(r))
		t["sqrt."+name+".f64.0"] = lift1(sqrt64(r))
		t["rcp."+name+".f64.0"] = lift1(func(a float64) float64 { return div64(r)(1, a) })
	}
	t["neg.rn.f64.0"] = lift1(func(a float64) float64 { return -a })
	t["abs.rn.f64.0"] = lift1(math.Abs)
	t["min.rn.f64.0"] = lift2(minNum[float64])
	t["max.rn.f64.0"] = lift2(maxNum[float64])
	t["copysign.rn.f64.0"] = lift2(func(a, b float64) float64 { return math.Copysign(b, a) })
	t["rcp.approx.f64.ftz"] = lift1(seed(func(a float64) float64 { return 1 / a }))
	t["rsqrt.approx.f64.ftz"] = lift1(seed(func(a float64) float64 { return 1 / math.Sqrt(a) }))
	t["rsqrt.approx.f64.0"] = lift1(func(a float64) float64 { return 1 / math.Sqrt(a) })
}

// seed is an approximation that sees and returns only the upper 32 bits.
func seed(f func(a float64) float64) func(a float64) float64 {
	return func(a float64) float64 { return high(f(high(a))) }
}

// high drops the lower word and flushes subnormals.
func high(a float64) float64 {
	u := math.Float64bits(a) &^ allLanes
	if u&(0x7ff<<52) == 0 {
		u &= 1 << 63
	}
	return math.Float64frombits(u)
}
