package interp

import (
	"math"
	"math/big"
)

// rounding is the direction in which a result is rounded.
type rounding uint8

// The directions. toNearest rounds ties to the even number.
const (
	toNearest rounding = iota
	toZero
	down
	up
	tiesAway // of cvt.rna only
)

// roundings are the directions of arithmetic.
var roundings = map[string]rounding{"rn": toNearest, "rz": toZero, "rm": down, "rp": up}

// twoSum is Knuth's error-free sum: a+b = s+e exactly.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	bb := s - a
	return s, (a - (s - bb)) + (b - bb)
}

// fma32 returns a*b+c with one rounding. The product of two float32 is exact in
// float64, so only the sum is rounded twice. The result is wrong only if the float64
// sum is a midpoint of float32, or is so small that the position of the midpoints
// varies. Such sums are first rounded to odd (Boldo & Melquiond 2008). A sum of zero is
// exact.
func fma32(a, b, c float32) float32 {
	p, q := float64(a)*float64(b), float64(c)
	if s := p + q; roundsOnce(s) {
		return float32(s)
	}
	return float32(sumToOdd(p, q))
}

// roundsOnce reports whether the float32 nearest to s is also the one nearest to the
// exact sum that was rounded to s.
func roundsOnce(s float64) bool {
	const midpoint, below = 1 << 28, 1<<29 - 1
	u := math.Float64bits(s)
	return u&below != midpoint && u<<1-1 >= smallest
}

// smallest is twice the bits of 2^-126: sums with a smaller exponent are subnormal in float32.
const smallest = (1023 - 126) << 53

// sumToOdd returns a+b rounded to odd.
func sumToOdd(a, b float64) float64 { return toOdd(twoSum(a, b)) }

// toOdd returns s+e rounded to odd, where s is the nearest float64 and e has the sign of
// the error. Inexact values get an odd last bit, which shows a second rounding on which
// side of a midpoint the exact value is.
func toOdd(s, e float64) float64 {
	if e == 0 || math.IsNaN(e) || math.Float64bits(s)&1 == 1 {
		return s
	}
	if (e > 0) == (s > 0) {
		return math.Float64frombits(math.Float64bits(s) + 1)
	}
	return math.Float64frombits(math.Float64bits(s) - 1)
}

// narrow rounds x to float32. A value that is inexact in float64 must have been rounded
// to odd.
func narrow(x float64, r rounding) float32 {
	f := float32(x)
	return nudge32(f, x-float64(f), r)
}

// nudge32 moves the nearest value f in direction r; exact-f has the sign of diff.
func nudge32(f float32, diff float64, r rounding) float32 {
	inf := float32(math.Inf(1))
	switch {
	case diff < 0 && (r == down || r == toZero && f > 0):
		return math.Nextafter32(f, -inf)
	case diff > 0 && (r == up || r == toZero && f < 0):
		return math.Nextafter32(f, inf)
	}
	return f
}

// nudge64 is nudge32 for float64.
func nudge64(f, diff float64, r rounding) float64 {
	switch {
	case diff < 0 && (r == down || r == toZero && f > 0):
		return math.Nextafter(f, math.Inf(-1))
	case diff > 0 && (r == up || r == toZero && f < 0):
		return math.Nextafter(f, math.Inf(1))
	}
	return f
}

// signedZero returns the zero of an exact sum a+b = 0 when rounding down: negative
// unless both are +0.
func signedZero(a, b float64, r rounding) (float64, bool) {
	if r != down || a+b != 0 || a != -b {
		return 0, false
	}
	if a == 0 && b == 0 && !math.Signbit(a) && !math.Signbit(b) {
		return 0, true
	}
	return math.Copysign(0, -1), true
}

// add32 returns the addition in direction r.
func add32(r rounding) func(a, b float32) float32 {
	if r == toNearest {
		return func(a, b float32) float32 { return a + b }
	}
	return func(a, b float32) float32 { return sum32(float64(a), float64(b), r) }
}

// sum32 returns a+b, rounded once to float32.
func sum32(a, b float64, r rounding) float32 {
	if z, ok := signedZero(a, b, r); ok {
		return float32(z)
	}
	return narrow(sumToOdd(a, b), r)
}

// mul32 returns the product in direction r. It is exact in float64.
func mul32(r rounding) func(a, b float32) float32 {
	if r == toNearest {
		return func(a, b float32) float32 { return a * b }
	}
	return func(a, b float32) float32 { return narrow(float64(a)*float64(b), r) }
}

// fma32r returns the fused multiply-add in direction r.
func fma32r(r rounding) func(a, b, c float32) float32 {
	if r == toNearest {
		return fma32
	}
	return func(a, b, c float32) float32 { return sum32(float64(a)*float64(b), float64(c), r) }
}

// div32 returns the division in direction r. The quotient is rounded to odd in float64 by
// the sign of its residue, and then to float32.
func div32(r rounding) func(a, b float32) float32 {
	if r == toNearest {
		return func(a, b float32) float32 { return a / b }
	}
	return func(a, b float32) float32 {
		q := float64(a) / float64(b)
		return narrow(toOdd(q, residue(float64(a), float64(b), q)), r)
	}
}

// residue returns a number with the sign of a/b - q.
func residue(a, b, q float64) float64 {
	if math.IsInf(q, 0) || math.IsNaN(q) || b == 0 || math.IsInf(b, 0) {
		return 0
	}
	e := math.FMA(-q, b, a)
	if b < 0 {
		return -e
	}
	return e
}

// sqrt32 returns the square root in direction r.
func sqrt32(r rounding) func(a float32) float32 {
	return func(a float32) float32 {
		q := math.Sqrt(float64(a))
		if r == toNearest || math.IsInf(q, 0) || math.IsNaN(q) {
			return float32(q)
		}
		return narrow(toOdd(q, math.FMA(-q, q, float64(a))), r)
	}
}

// add64 returns the addition in direction r.
func add64(r rounding) func(a, b float64) float64 {
	if r == toNearest {
		return func(a, b float64) float64 { return a + b }
	}
	return func(a, b float64) float64 { return fma64(a, 1, b, r) }
}

// mul64 returns the product in direction r.
func mul64(r rounding) func(a, b float64) float64 {
	if r == toNearest {
		return func(a, b float64) float64 { return a * b }
	}
	return func(a, b float64) float64 {
		p := a * b
		return nudge64(p, exactMinus(a, b, 0, p), r)
	}
}

// fma64r returns the fused multiply-add in direction r.
func fma64r(r rounding) func(a, b, c float64) float64 {
	if r == toNearest {
		// math.FMA as a function value would be the software version.
		return func(a, b, c float64) float64 { return math.FMA(a, b, c) }
	}
	return func(a, b, c float64) float64 { return fma64(a, b, c, r) }
}

// fma64 rounds a·b+c in direction r: to the nearest, then by the sign of the error.
func fma64(a, b, c float64, r rounding) float64 {
	if z, ok := signedZero(a*b, c, r); ok && exactMinus(a, b, c, 0) == 0 {
		return z
	}
	s := math.FMA(a, b, c)
	return nudge64(s, exactMinus(a, b, c, s), r)
}

// exactMinus returns a number with the sign of a*b+c-s. Directed rounding of float64 is
// rare (20 of 3,278 kernels), so arbitrary precision is fast enough.
func exactMinus(a, b, c, s float64) float64 {
	for _, v := range []float64{a, b, c} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0
		}
	}
	if math.IsInf(s, 1) {
		return -1
	}
	if math.IsInf(s, -1) {
		return 1
	}
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(8192).SetFloat64(v) }
	e := exact(a)
	e.Mul(e, exact(b))
	e.Add(e, exact(c))
	return float64(e.Sub(e, exact(s)).Sign())
}

// div64 returns the division in direction r: the nearest quotient, moved by the
// sign of its exact error.
func div64(r rounding) func(a, b float64) float64 {
	if r == toNearest {
		return func(a, b float64) float64 { return a / b }
	}
	return func(a, b float64) float64 {
		q := a / b
		if math.IsNaN(q) || b == 0 || math.IsInf(b, 0) || math.IsInf(a, 0) {
			return q
		}
		e := -exactMinus(q, b, -a, 0)
		if math.IsInf(q, 0) {
			e = -q
		} else if b < 0 {
			e = -e
		}
		return nudge64(q, e, r)
	}
}

// sqrt64 returns the square root in direction r.
func sqrt64(r rounding) func(a float64) float64 {
	if r == toNearest {
		return math.Sqrt
	}
	return func(a float64) float64 {
		q := math.Sqrt(a)
		if math.IsNaN(q) || math.IsInf(q, 0) {
			return q
		}
		return nudge64(q, -exactMinus(q, q, -a, 0), r)
	}
}
