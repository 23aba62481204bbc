package interp

import "math"

// smallFloat is a float format narrower than binary32: a sign, and the given numbers of
// exponent and fraction bits. The codes of a format by ascending magnitude:
//
//	0 │ subnormal │ normal … largest │ infinity │ NaN          above() is infinity
//	0 │ subnormal │ normal … largest │ NaN                     finite: above() is the NaN
type smallFloat struct {
	exp, frac int
	finite    bool // no infinity; only the last code of the largest exponent is a NaN
}

// The formats, named as in IEEE 754 and in the OCP specification of 8-bit floats.
var (
	binary16   = smallFloat{exp: 5, frac: 10}
	bfloat16   = smallFloat{exp: 8, frac: 7}
	tensor32   = smallFloat{exp: 8, frac: 10} // stored in a register above 13 zeros
	float8e4m3 = smallFloat{exp: 4, frac: 3, finite: true}
	float8e5m2 = smallFloat{exp: 5, frac: 2}
)

// bias returns the bias of the exponent.
func (s smallFloat) bias() int { return 1<<(s.exp-1) - 1 }

// sign returns the bit of the sign.
func (s smallFloat) sign() uint32 { return 1 << (s.exp + s.frac) }

// nan returns the bits of a NaN.
func (s smallFloat) nan() uint32 { return s.sign() - 1 }

// above returns the code after the largest finite number: infinity, or the NaN that
// replaces it.
func (s smallFloat) above() uint32 { return s.largest() + 1 } // infinity, or the NaN in place of it

// largest returns the bits of the largest finite number.
func (s smallFloat) largest() uint32 {
	if s.finite {
		return s.nan() - 1
	}
	return (1<<s.exp-1)<<s.frac - 1
}

// decode returns the value of the bits v.
func (s smallFloat) decode(v uint32) float64 {
	sign := uint64(v/s.sign()&1) << 63
	m := v & (s.sign() - 1)
	switch e := m >> s.frac; {
	case m > s.above() || s.finite && m == s.nan():
		return math.Float64frombits(sign | 0x7ff8<<48) // .xorsign uses the sign of a NaN too
	case m == s.above():
		return math.Float64frombits(sign | 0x7ff<<52)
	case e == 0:
		tiny := float64(m) * math.Float64frombits(uint64(1023+1-s.bias()-s.frac)<<52)
		return math.Float64frombits(sign | math.Float64bits(tiny))
	default:
		return math.Float64frombits(sign | uint64(m)<<(52-s.frac) + uint64(1023-s.bias())<<52)
	}
}

// encode rounds f to the format, in direction r. The 53 bits of the significand are cut at
// the last place of the result; increments decides by the bits that are dropped. A carry
// into the exponent needs no special case, since codes are ordered.
func (s smallFloat) encode(f float64, r rounding) uint32 {
	u := math.Float64bits(f)
	sign := uint32(u>>63) * s.sign()
	switch {
	case f != f:
		return s.nan()
	case math.IsInf(f, 0):
		return sign | s.above()
	}
	m, e := u&(1<<52-1), int(u>>52&0x7ff)-1023
	if e > -1023 {
		m |= 1 << 52
	}
	places := max(e, 1-s.bias()) // the exponent of the result
	drop := min(52-s.frac+places-e, 63)
	q, rest := m>>drop, m&(1<<drop-1)
	if r.increments(rest<<(64-drop), q&1 == 1, sign != 0) {
		q++
	}
	v := uint32(places+s.bias()-1)<<s.frac + uint32(q)
	if places > s.bias()+1 || v > s.largest() {
		return sign | s.overflow(r, sign != 0)
	}
	return sign | v
}

// overflow returns the magnitude of a number that is too large: infinity, or the largest
// number if the rounding is towards zero.
func (s smallFloat) overflow(r rounding, negative bool) uint32 {
	if r == toZero || r == up && negative || r == down && !negative {
		return s.largest()
	}
	return s.above()
}

// increments reports whether a magnitude is rounded up. odd is the parity of its last
// place, and rest the fraction below it, in units of 2^-64.
func (r rounding) increments(rest uint64, odd, negative bool) bool {
	const half = 1 << 63
	switch r {
	case toNearest:
		return rest > half || rest == half && odd
	case tiesAway:
		return rest >= half
	case down:
		return negative && rest > 0
	case up:
		return !negative && rest > 0
	}
	return false
}

// half rounds to binary16.
func half(f float64) uint16 { return uint16(binary16.encode(f, toNearest)) }

// fromHalf returns the value of a binary16.
func fromHalf(h uint16) float64 { return binary16.decode(uint32(h)) }
