package interp

import (
	"math/big"
	"strings"
)

// The arithmetic of PTX once more, one value at a time, in whole numbers of any
// size: slow, and sharing nothing with the interpreter that it checks.

// numeric is a type of PTX as the naive evaluator sees it. Floats have bits of
// exponent and fraction.
type numeric struct {
	name      string
	bits      int
	signed    bool
	exp, frac int
}

var numerics = map[string]numeric{
	"s8": {"s8", 8, true, 0, 0}, "s16": {"s16", 16, true, 0, 0}, "s32": {"s32", 32, true, 0, 0}, "s64": {"s64", 64, true, 0, 0},
	"u8": {"u8", 8, false, 0, 0}, "u16": {"u16", 16, false, 0, 0}, "u32": {"u32", 32, false, 0, 0}, "u64": {"u64", 64, false, 0, 0},
	"b16": {"b16", 16, false, 0, 0}, "b32": {"b32", 32, false, 0, 0}, "b64": {"b64", 64, false, 0, 0},
	"f16": {"f16", 16, true, 5, 10}, "bf16": {"bf16", 16, true, 8, 7}, "f32": {"f32", 32, true, 8, 23}, "f64": {"f64", 64, true, 11, 52},
}

func (n numeric) class() string {
	return map[int]string{8: "r", 16: "h", 32: "r", 64: "l"}[n.bits]
}

func (n numeric) mask() uint64 { return ^uint64(0) >> (64 - n.bits) }

// integer reads the low bits of v as a number of the type.
func (n numeric) integer(v uint64) *big.Int {
	x := new(big.Int).SetUint64(v & n.mask())
	if n.signed && v>>(n.bits-1)&1 == 1 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(n.bits)))
	}
	return x
}

// wrap is x modulo 2^bits.
func (n numeric) wrap(x *big.Int) uint64 {
	return new(big.Int).And(x, new(big.Int).SetUint64(n.mask())).Uint64()
}

func (n numeric) least() *big.Int {
	if !n.signed {
		return new(big.Int)
	}
	return new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), uint(n.bits-1)))
}

func (n numeric) greatest() *big.Int {
	top := n.bits
	if n.signed {
		top--
	}
	x := new(big.Int).Lsh(big.NewInt(1), uint(top))
	return x.Sub(x, big.NewInt(1))
}

// clamp is x limited to the range of the type.
func (n numeric) clamp(x *big.Int) *big.Int {
	if x.Cmp(n.least()) < 0 {
		return n.least()
	}
	if x.Cmp(n.greatest()) > 0 {
		return n.greatest()
	}
	return x
}

// dyadic is the number m*2^e, to which less than one unit of m is missing, away
// from zero, when more is set.
type dyadic struct {
	m    *big.Int
	e    int
	more bool
}

func (n numeric) sign(v uint64) bool        { return v>>(n.bits-1)&1 == 1 }
func (n numeric) magnitude(v uint64) uint64 { return v & (n.mask() >> 1) }
func (n numeric) inf() uint64               { return (1<<n.exp - 1) << n.frac }
func (n numeric) isInf(v uint64) bool       { return n.magnitude(v) == n.inf() }
func (n numeric) isNaN(v uint64) bool       { return n.magnitude(v) > n.inf() }
func (n numeric) isZero(v uint64) bool      { return n.magnitude(v) == 0 }
func (n numeric) negate(v uint64) uint64    { return v ^ 1<<(n.bits-1) }

// nan is the NaN of results: all ones below the sign.
func (n numeric) nan() uint64 { return n.mask() >> 1 }

func (n numeric) one() uint64 { return (1<<(n.exp-1) - 1) << n.frac }

func (n numeric) withSign(v uint64, negative bool) uint64 {
	if negative {
		return v | 1<<(n.bits-1)
	}
	return v
}

func (n numeric) value(v uint64) dyadic {
	bias := 1<<(n.exp-1) - 1
	e, f := int(n.magnitude(v)>>n.frac), v&(1<<n.frac-1)
	if e == 0 {
		e = 1
	} else {
		f |= 1 << n.frac
	}
	m := new(big.Int).SetUint64(f)
	if n.sign(v) {
		m.Neg(m)
	}
	return dyadic{m: m, e: e - bias - n.frac}
}

func (n numeric) flush(v uint64) uint64 {
	if n.magnitude(v)>>n.frac == 0 {
		return v &^ (n.mask() >> 1)
	}
	return v
}

// round gives the bits of x in a direction: rn, rz, rm or rp. zero is the sign of
// an exact zero.
func (n numeric) round(x dyadic, mode string, zero bool) uint64 {
	if x.m.Sign() == 0 {
		return n.withSign(0, zero)
	}
	negative := x.m.Sign() < 0
	m := new(big.Int).Abs(x.m)
	bias := 1<<(n.exp-1) - 1
	top := max(x.e+m.BitLen()-1, 1-bias)
	drop := top - n.frac - x.e
	rest := 0 // the dropped part against a half: -2 for none, -1, 0, 1
	if drop <= 0 {
		if x.more {
			panic("too few bits to round")
		}
		m.Lsh(m, uint(-drop))
		rest = -2
	} else {
		low := new(big.Int).And(m, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(drop)), big.NewInt(1)))
		m.Rsh(m, uint(drop))
		rest = low.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(drop-1)))
		if rest == 0 && x.more {
			rest = 1
		}
		if low.Sign() == 0 && !x.more {
			rest = -2
		}
	}
	up := false
	switch mode {
	case "rn":
		up = rest == 1 || rest == 0 && m.Bit(0) == 1
	case "rm":
		up = negative && rest > -2
	case "rp":
		up = !negative && rest > -2
	}
	v := m.Uint64()
	if up {
		v++
	}
	v += uint64(top+bias-1) << n.frac
	if top > bias+1 || v >= n.inf() {
		v = n.inf()
		if mode == "rz" || mode == "rm" && !negative || mode == "rp" && negative {
			v--
		}
	}
	return n.withSign(v, negative)
}

func plus(a, b dyadic) dyadic {
	if a.e < b.e {
		a, b = b, a
	}
	m := new(big.Int).Lsh(a.m, uint(a.e-b.e))
	return dyadic{m: m.Add(m, b.m), e: b.e}
}

func times(a, b dyadic) dyadic { return dyadic{m: new(big.Int).Mul(a.m, b.m), e: a.e + b.e} }

// fma is a*b+c rounded once.
func (n numeric) fma(a, b, c uint64, mode string) uint64 {
	negative := n.sign(a) != n.sign(b)
	switch {
	case n.isNaN(a) || n.isNaN(b) || n.isNaN(c):
		return n.nan()
	case n.isInf(a) || n.isInf(b):
		if n.isZero(a) || n.isZero(b) || n.isInf(c) && n.sign(c) != negative {
			return n.nan()
		}
		return n.withSign(n.inf(), negative)
	case n.isInf(c):
		return c
	}
	zero := mode == "rm"
	if (n.isZero(a) || n.isZero(b)) && n.isZero(c) && negative == n.sign(c) {
		zero = negative
	}
	return n.round(plus(times(n.value(a), n.value(b)), n.value(c)), mode, zero)
}

func (n numeric) add(a, b uint64, mode string) uint64 { return n.fma(a, n.one(), b, mode) }

func (n numeric) sub(a, b uint64, mode string) uint64 { return n.fma(a, n.one(), n.negate(b), mode) }

func (n numeric) mul(a, b uint64, mode string) uint64 {
	// Adding a zero of the product's own sign changes nothing.
	return n.fma(a, b, n.withSign(0, n.sign(a) != n.sign(b)), mode)
}

func (n numeric) div(a, b uint64, mode string) uint64 {
	negative := n.sign(a) != n.sign(b)
	switch {
	case n.isNaN(a) || n.isNaN(b) || n.isInf(a) && n.isInf(b) || n.isZero(a) && n.isZero(b):
		return n.nan()
	case n.isInf(a) || n.isZero(b):
		return n.withSign(n.inf(), negative)
	case n.isInf(b) || n.isZero(a):
		return n.withSign(0, negative)
	}
	x, y := n.value(a), n.value(b)
	const extra = 2400 // more bits than any quotient's subnormal needs
	q, r := new(big.Int).QuoRem(new(big.Int).Lsh(x.m, extra), y.m, new(big.Int))
	return n.round(dyadic{m: q, e: x.e - y.e - extra, more: r.Sign() != 0}, mode, negative)
}

func (n numeric) sqrt(a uint64, mode string) uint64 {
	switch {
	case n.isZero(a) || n.isNaN(a):
		return a
	case n.sign(a):
		return n.nan()
	case n.isInf(a):
		return a
	}
	x := n.value(a)
	const extra = 200
	m, e := new(big.Int).Lsh(x.m, extra+uint(x.e&1)), x.e-extra-x.e&1
	root := new(big.Int).Sqrt(m)
	return n.round(dyadic{m: root, e: e / 2, more: new(big.Int).Mul(root, root).Cmp(m) != 0}, mode, false)
}

// order compares two numbers: -1, 0, 1, or 2 when one is a NaN.
func (n numeric) order(a, b uint64) int {
	switch {
	case n.exp == 0:
		return n.integer(a).Cmp(n.integer(b))
	case n.isNaN(a) || n.isNaN(b):
		return 2
	case n.isZero(a) && n.isZero(b):
		return 0
	}
	key := func(v uint64) *big.Int {
		k := new(big.Int).SetUint64(n.magnitude(v))
		if n.sign(v) {
			k.Neg(k)
		}
		return k
	}
	return key(a).Cmp(key(b))
}

// holds is the comparison that cmp names.
func (n numeric) holds(cmp string, a, b uint64) bool {
	o := n.order(a, b)
	switch cmp {
	case "num":
		return o != 2
	case "nan":
		return o == 2
	case "lo", "ls", "hi", "hs":
		cmp = map[string]string{"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}[cmp]
	}
	if o == 2 {
		return strings.HasSuffix(cmp, "u")
	}
	switch strings.TrimSuffix(cmp, "u") {
	case "eq":
		return o == 0
	case "ne":
		return o != 0
	case "lt":
		return o < 0
	case "le":
		return o <= 0
	case "gt":
		return o > 0
	}
	return o >= 0
}

// extreme is min, or max, which gives the operand that is a number.
func (n numeric) extreme(a, b uint64, maximum, nan bool) uint64 {
	switch {
	case n.isNaN(a) && n.isNaN(b), nan && (n.isNaN(a) || n.isNaN(b)):
		return n.nan()
	case n.isNaN(a):
		return b
	case n.isNaN(b):
		return a
	}
	less := n.order(a, b) < 0 || n.order(a, b) == 0 && n.sign(a)
	if less != maximum {
		return a
	}
	return b
}

// saturate is .sat of a float result.
func (n numeric) saturate(v uint64) uint64 {
	if n.isNaN(v) || n.sign(v) {
		return 0
	}
	return min(v, n.one())
}

// toIntegral rounds x to a whole number.
func toIntegral(x dyadic, mode string) *big.Int {
	if x.e >= 0 {
		return new(big.Int).Lsh(x.m, uint(x.e))
	}
	unit := new(big.Int).Lsh(big.NewInt(1), uint(-x.e))
	q, r := new(big.Int).DivMod(x.m, unit, new(big.Int)) // floor
	half := new(big.Int).Lsh(r, 1).Cmp(unit)
	up := false
	switch mode {
	case "rni":
		up = half > 0 || half == 0 && q.Bit(0) == 1
	case "rpi":
		up = r.Sign() > 0
	case "rzi":
		up = r.Sign() > 0 && x.m.Sign() < 0
	}
	if up {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// convert is cvt from n to d.
func (n numeric) convert(v uint64, d numeric, mode string, sat bool) uint64 {
	v &= n.mask()
	switch {
	case n.exp == 0 && d.exp == 0:
		x := n.integer(v)
		if sat {
			x = d.clamp(x)
		}
		return d.extend(d.wrap(x))
	case d.exp == 0 && n.exp > 0:
		switch {
		case n.isNaN(v) && (n.bits == 64 || d.bits == 64):
			return d.extend(1 << (d.bits - 1))
		case n.isNaN(v):
			return 0
		case n.isInf(v) && n.sign(v):
			return d.extend(d.wrap(d.least()))
		case n.isInf(v):
			return d.extend(d.wrap(d.greatest()))
		}
		return d.extend(d.wrap(d.clamp(toIntegral(n.value(v), mode))))
	}
	var r uint64
	switch {
	case n.exp == 0:
		r = d.round(dyadic{m: n.integer(v)}, mode, false)
	case n.isNaN(v):
		r = d.nan()
	case n.isInf(v):
		r = d.withSign(d.inf(), n.sign(v))
	case strings.HasSuffix(mode, "i"):
		r = d.round(dyadic{m: toIntegral(n.value(v), mode)}, "rn", n.sign(v))
		r = d.withSign(d.magnitude(r), n.sign(v))
	default:
		r = d.round(n.value(v), mode, n.sign(v))
	}
	if sat {
		r = d.saturate(r)
	}
	return r
}

// extend widens an integer narrower than a register to 32 bits.
func (n numeric) extend(v uint64) uint64 {
	if n.bits >= 16 {
		return v
	}
	return numerics["u32"].wrap(n.integer(v))
}
