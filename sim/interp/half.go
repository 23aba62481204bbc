package interp

import (
	"math"
)

// Half precision is computed in float64, where sums and products of 11-bit
// significands leave room for one correct rounding at the end.

// halfToFloat widens binary16.
func halfToFloat(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exp {
	case 0:
		return math.Float32frombits(sign | math.Float32bits(float32(frac)*0x1p-24))
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// floatToHalf rounds f, to which err is missing, to binary16.
func floatToHalf(f, err float64, r rounding) uint16 {
	sign := uint16(math.Float64bits(f) >> 63 << 15)
	switch m := math.Abs(f); {
	case f != f:
		return 0x7fff
	case math.IsInf(f, 0):
		return sign | 0x7c00
	default:
		return sign | roundHalf(m, errorOf(f, err), sign != 0, r)
	}
}

// errorOf is err in terms of the magnitude of f.
func errorOf(f, err float64) float64 {
	if f < 0 {
		return -err
	}
	return err
}

// roundHalf rounds the magnitude m: it is scaled to units in the last place,
// split into a whole number and a rest, and counted up from zero.
func roundHalf(m, err float64, negative bool, r rounding) uint16 {
	_, e := math.Frexp(m)
	e = max(e-11, -24) // exponent of the last place
	units := math.Ldexp(m, -e)
	whole := math.Floor(units)
	rest := units - whole
	switch {
	case r == toNearest && (rest > 0.5 || rest == 0.5 && (err > 0 || err == 0 && math.Mod(whole, 2) == 1)),
		(r == up && !negative || r == down && negative) && (rest > 0 || err > 0):
		whole++
	}
	v := math.Ldexp(whole, e)
	if v >= 65536 {
		if r == toZero || r == up && negative || r == down && !negative {
			return 0x7bff
		}
		return 0x7c00
	}
	if v < 0x1p-14 {
		return uint16(v * 0x1p24)
	}
	frac, exp := math.Frexp(v)
	return uint16(exp+14)<<10 + uint16(frac*2048) - 1024
}

// floatToBrain rounds f to bfloat16, the upper half of float32.
func floatToBrain(f float64, r rounding) uint16 {
	if f != f {
		return 0x7fff
	}
	if r == toZero {
		return uint16(math.Float32bits(narrow(f, 0, toZero)) >> 16)
	}
	odd := narrow(f, 0, toZero)
	u := math.Float32bits(odd)
	if float64(odd) != f {
		u |= 1
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

func half(f float64) uint16     { return floatToHalf(f, 0, toNearest) }
func fromHalf(h uint16) float64 { return float64(halfToFloat(h)) }
func flushHalf(h uint16) uint16 {
	if h&0x7c00 == 0 {
		return h & 0x8000
	}
	return h
}

type halfOp struct {
	f1 func(a float64) float64
	f2 func(a, b float64) float64
	f3 func(a, b, c float64) float64
}

// addHalf registers f16 and f16x2, the latter lane by lane of the pair.
func addHalf(t opTable) {
	regs := map[string]halfOp{
		"add":        {f2: func(a, b float64) float64 { return a + b }},
		"sub":        {f2: func(a, b float64) float64 { return a - b }},
		"mul":        {f2: func(a, b float64) float64 { return a * b }},
		"min":        {f2: minNum[float64]},
		"max":        {f2: maxNum[float64]},
		"fma":        {f3: func(a, b, c float64) float64 { return sumToOdd(float64(a*b), c) }},
		"neg":        {f1: func(a float64) float64 { return -a }},
		"abs":        {f1: math.Abs},
		"ex2.approx": {f1: math.Exp2}, "tanh.approx": {f1: math.Tanh},
	}
	for name, op := range regs {
		if name != "ex2.approx" && name != "tanh.approx" {
			name += ".rn"
		}
		for suffix, wrap := range halfModifiers {
			op.register(t, name, suffix, wrap)
		}
	}
}

// halfModifiers wrap results; .ftz flushes inputs too, which flushing twice does no harm to.
var halfModifiers = map[string]func(h uint16) uint16{
	".0":       func(h uint16) uint16 { return h },
	".ftz":     flushHalf,
	".sat":     func(h uint16) uint16 { return half(saturate(fromHalf(h))) },
	".ftz.sat": func(h uint16) uint16 { return half(saturate(fromHalf(flushHalf(h)))) },
}

func (o halfOp) register(t opTable, name, suffix string, out func(uint16) uint16) {
	in := fromHalf
	if suffix == ".ftz" || suffix == ".ftz.sat" {
		in = func(h uint16) float64 { return fromHalf(flushHalf(h)) }
	}
	switch {
	case o.f1 != nil:
		f := func(a uint16) uint16 { return out(half(o.f1(in(a)))) }
		t[name+".f16"+suffix] = lift1(f)
		t[name+".f16x2"+suffix] = lift1(func(a uint32) uint32 { return pair(f(uint16(a)), f(uint16(a>>16))) })
	case o.f2 != nil:
		f := func(a, b uint16) uint16 { return out(half(o.f2(in(a), in(b)))) }
		t[name+".f16"+suffix] = lift2(f)
		t[name+".f16x2"+suffix] = lift2(func(a, b uint32) uint32 {
			return pair(f(uint16(a), uint16(b)), f(uint16(a>>16), uint16(b>>16)))
		})
	default:
		f := func(a, b, c uint16) uint16 { return out(half(o.f3(in(a), in(b), in(c)))) }
		t[name+".f16"+suffix] = lift3(f)
		t[name+".f16x2"+suffix] = lift3(func(a, b, c uint32) uint32 {
			return pair(f(uint16(a), uint16(b), uint16(c)), f(uint16(a>>16), uint16(b>>16), uint16(c>>16)))
		})
	}
}

func pair(lo, hi uint16) uint32 { return uint32(hi)<<16 | uint32(lo) }

func addHalfTests(t map[string]tester) {
	reg := func(name string, f func(a, b float32) bool) {
		t[name+".f16"] = liftTest(func(a, b uint16) bool { return f(halfToFloat(a), halfToFloat(b)) })
	}
	reg("eq", func(a, b float32) bool { return a == b })
	reg("ne", func(a, b float32) bool { return a < b || a > b })
	reg("lt", func(a, b float32) bool { return a < b })
	reg("le", func(a, b float32) bool { return a <= b })
	reg("gt", func(a, b float32) bool { return a > b })
	reg("ge", func(a, b float32) bool { return a >= b })
	reg("neu", func(a, b float32) bool { return a != b })
	reg("ltu", func(a, b float32) bool { return !(a >= b) })
	reg("leu", func(a, b float32) bool { return !(a > b) })
	reg("gtu", func(a, b float32) bool { return !(a <= b) })
	reg("geu", func(a, b float32) bool { return !(a < b) })
	reg("nan", func(a, b float32) bool { return a != a || b != b })
}
