package access

import (
	"math"
	"math/bits"
)

// interval is a set of integers [lo, hi]. It describes a register of n bits: the register
// holds the low n bits of one of the integers. Sums and products therefore need no check
// for overflow of the register; extend, which widens a register, accounts for the wrap.
// For example, with 8 bits:
//
//	[250, 250] + [10, 10]  = [260, 260]        the register holds 4
//	extend([260, 260], u8) = [4, 4]
//	extend([250, 260], u8) = [0, 255]          two pieces: 250 … 255 and 0 … 4
//	extend([250, 260], s8) = [-6, 4]           one piece
//
// Every 64-bit pattern is in [MinInt64, MaxInt64]. A result whose ends do not fit in 64
// bits becomes that interval.
//
// Every operation returns a superset of the exact results, in constant time. The domain
// is that of intervals in abstract interpretation (Cousot & Cousot, "Static Determination
// of Dynamic Properties of Programs", 1976), without widening: loops have bounds of their
// own, see trips. The empty interval represents values that are never computed; an
// operation with an empty operand is empty.
type interval struct{ lo, hi int64 }

// The largest and the smallest interval.
var (
	all   = interval{math.MinInt64, math.MaxInt64}
	empty = interval{1, 0} // of values that are never computed
)

// point returns the interval of one number.
func point(x int64) interval { return interval{x, x} }

// isEmpty reports whether a has no element. Every interval with lo > hi is empty.
func (a interval) isEmpty() bool { return a.lo > a.hi }

// single reports whether a has one element.
func (a interval) single() bool { return a.lo == a.hi }

// full returns the interval of all patterns of the given number of bits.
func full(width uint8) interval { return window(width, true) }

// window returns the range of an integer type.
func window(width uint8, signed bool) interval {
	switch {
	case width >= 64:
		return all
	case signed:
		return interval{-1 << (width - 1), 1<<(width-1) - 1}
	}
	return interval{0, 1<<width - 1}
}

// extend returns the low bits as a number of the given type. It shifts the interval by a
// multiple of 2^width into the type's range:
//
//	                 w.lo            w.hi
//	…────────────────┼────────────────┼─────────[a.lo──a.hi]───…
//	                 ├──[lo──lo+n]────┤  ◄── minus k·2^width
//
// If the result straddles the end of that range, or the interval is longer than it, the
// whole range is returned.
func (a interval) extend(width uint8, signed bool) interval {
	if width >= 64 || a.isEmpty() {
		return a
	}
	w := window(width, signed)
	size := int64(1) << width
	if uint64(a.hi)-uint64(a.lo) >= uint64(size) {
		return w
	}
	lo := (a.lo-w.lo)&(size-1) + w.lo // a.lo-w.lo may overflow; the mask makes that harmless
	if n := a.hi - a.lo; lo <= w.hi-n {
		return interval{lo, lo + n}
	}
	return w
}

// union returns the smallest interval that contains both.
func (a interval) union(b interval) interval {
	switch {
	case a.isEmpty():
		return b
	case b.isEmpty():
		return a
	}
	return interval{min(a.lo, b.lo), max(a.hi, b.hi)}
}

// intersect returns the integers in both.
func (a interval) intersect(b interval) interval {
	c := interval{max(a.lo, b.lo), min(a.hi, b.hi)}
	if c.isEmpty() {
		return empty
	}
	return c
}

// addOverflows reports whether x+y exceeds an int64.
func addOverflows(x, y int64) bool { s := x + y; return (s > x) != (y > 0) && y != 0 }

// add returns all if either end overflows.
func (a interval) add(b interval) interval {
	if a.isEmpty() || b.isEmpty() {
		return empty
	}
	if addOverflows(a.lo, b.lo) || addOverflows(a.hi, b.hi) {
		return all
	}
	return interval{a.lo + b.lo, a.hi + b.hi}
}

// neg returns all if an end has no negation.
func (a interval) neg() interval {
	switch {
	case a.isEmpty():
		return empty
	case a.lo == math.MinInt64:
		return all
	}
	return interval{-a.hi, -a.lo}
}

// sub returns a + (-b).
func (a interval) sub(b interval) interval {
	return a.add(b.neg())
}

// mulOverflows reports whether x*y exceeds an int64.
func mulOverflows(x, y int64) bool {
	if x == 0 || y == 0 {
		return false
	}
	p := x * y
	return p/y != x || x == -1 && y == math.MinInt64 || y == -1 && x == math.MinInt64
}

// corners returns the hull of f at the four combinations of ends. f must be
// monotone in each argument, so that its extrema are at the corners. It returns
// all if f reports false.
func (a interval) corners(b interval, f func(x, y int64) (int64, bool)) interval {
	if a.isEmpty() || b.isEmpty() {
		return empty
	}
	out := empty
	for _, p := range [4][2]int64{{a.lo, b.lo}, {a.lo, b.hi}, {a.hi, b.lo}, {a.hi, b.hi}} {
		v, ok := f(p[0], p[1])
		if !ok {
			return all
		}
		out = out.union(point(v))
	}
	return out
}

// mul takes a short cut for non-negative 32-bit ends, the common case.
func (a interval) mul(b interval) interval {
	// Products of 31-bit numbers cannot overflow, and the ends give the ends.
	if a.lo >= 0 && b.lo >= 0 && a.hi <= math.MaxInt32 && b.hi <= math.MaxInt32 && a.lo <= a.hi && b.lo <= b.hi {
		return interval{a.lo * b.lo, a.hi * b.hi}
	}
	return a.corners(b, func(x, y int64) (int64, bool) { return x * y, !mulOverflows(x, y) })
}

// mulHigh returns the 128-bit product shifted right by n, 0 < n < 64.
func (a interval) mulHigh(b interval, n uint) interval {
	return a.corners(b, func(x, y int64) (int64, bool) {
		high, low := bits.Mul64(uint64(x), uint64(y))
		if x < 0 {
			high -= uint64(y)
		}
		if y < 0 {
			high -= uint64(x)
		}
		sign := int64(high) >> (n - 1) // the bits that do not fit into the result, and its sign
		return int64(high<<(64-n) | low>>n), sign == 0 || sign == -1
	})
}

// shl shifts left. A shift that may reach the width may leave any pattern.
func (a interval) shl(b interval, width uint8) interval {
	if a.isEmpty() || b.isEmpty() {
		return empty
	}
	if b.lo < 0 || b.hi >= int64(min(width, 63)) {
		return full(width)
	}
	return a.mul(interval{1 << b.lo, 1 << b.hi})
}

// shr shifts right. In an unsigned 64-bit interval, a negative end represents a number of
// 2^63 or more.
func (a interval) shr(b interval, unsigned bool) interval {
	if a.isEmpty() || b.isEmpty() {
		return empty
	}
	if b.lo < 0 {
		return all
	}
	if unsigned && a.lo < 0 {
		if b.lo == 0 {
			return all
		}
		return interval{0, int64(uint64(math.MaxUint64) >> min(uint64(b.lo), 64))}
	}
	return a.corners(interval{min(b.lo, 63), min(b.hi, 63)}, func(x, y int64) (int64, bool) { return x >> uint(y), true })
}

// and takes unsigned patterns, and constants with their sign: a constant whose high bits
// are set is negative. The cases, the most precise first:
//
//	a & -2^k       rounds down to a multiple of 2^k: both ends are rounded
//	a & (2^k-1)    if both ends have the same high bits, the remainder of both ends
//	a & m, m > 0   [0, min(m, a.hi)]
//	a & b          [0, min(a.hi, b.hi)] if both are not negative
//
// Any other combination may be any pattern.
func (a interval) and(b interval, width uint8) interval {
	if a.isEmpty() || b.isEmpty() {
		return empty
	}
	if a.single() && b.single() {
		return point(a.lo & b.lo)
	}
	if a.single() {
		a, b = b, a
	}
	if b.single() {
		switch m := b.lo; {
		case m == 0:
			return point(0)
		case m < 0 && -m&(-m-1) == 0: // rounds down to a multiple of -m
			return interval{a.lo & m, a.hi & m}
		case m > 0 && isMask(m) && a.lo&^m == a.hi&^m:
			return interval{a.lo & m, a.hi & m}
		case m > 0:
			if a.lo < 0 {
				return interval{0, m}
			}
			return interval{0, min(m, a.hi)}
		}
	}
	if a.lo >= 0 && b.lo >= 0 {
		return interval{0, min(a.hi, b.hi)}
	}
	return full(width)
}

// or takes unsigned patterns. The result is at least each operand, and at most
// their sum and the mask of their bits.
func (a interval) or(b interval, width uint8) interval {
	if a.isEmpty() || b.isEmpty() {
		return empty
	}
	if a.lo < 0 || b.lo < 0 {
		return full(width)
	}
	high := interval{0, a.hi}.add(interval{0, b.hi})
	return interval{max(a.lo, b.lo), min(high.hi, allOnes(a.hi|b.hi))}
}

// xor takes unsigned patterns. The result has no bit above those of the
// operands.
func (a interval) xor(b interval, width uint8) interval {
	if a.isEmpty() || b.isEmpty() {
		return empty
	}
	if a.lo < 0 || b.lo < 0 {
		return full(width)
	}
	return interval{0, allOnes(a.hi | b.hi)}
}

// allOnes returns the least 2^k-1 that is not below x.
func allOnes(x int64) int64 { return int64(1<<uint(bits.Len64(uint64(x))) - 1) }

// abs returns all if the interval contains MinInt64, which has no absolute
// value.
func (a interval) abs() interval {
	switch {
	case a.isEmpty() || a.lo >= 0:
		return a
	case a.lo == math.MinInt64:
		return all
	case a.hi <= 0:
		return a.neg()
	}
	return interval{0, max(-a.lo, a.hi)}
}

// large reports whether an unsigned 64-bit interval may contain numbers of 2^63
// or more.
func (a interval) large(unsigned bool) bool { return unsigned && a.lo < 0 }

// min of unsigned operands discards an operand that may be large.
func (a interval) min(b interval, unsigned bool) interval {
	switch la, lb := a.large(unsigned), b.large(unsigned); {
	case a.isEmpty() || b.isEmpty():
		return empty
	case la && lb:
		return all
	case la:
		return interval{0, b.hi}
	case lb:
		return interval{0, a.hi}
	}
	return interval{min(a.lo, b.lo), min(a.hi, b.hi)}
}

// max of unsigned operands returns all if one may be large.
func (a interval) max(b interval, unsigned bool) interval {
	switch {
	case a.isEmpty() || b.isEmpty():
		return empty
	case a.large(unsigned) || b.large(unsigned):
		return all
	}
	return interval{max(a.lo, b.lo), max(a.hi, b.hi)}
}

// div truncates. PTX does not specify the quotient by zero.
func (a interval) div(b interval, unsigned bool) interval {
	switch {
	case a.isEmpty() || b.isEmpty():
		return empty
	case b.lo <= 0 && b.hi >= 0 || b.large(unsigned):
		return all
	case a.large(unsigned):
		if b.lo == 1 {
			return all
		}
		return interval{0, int64(uint64(math.MaxUint64) / uint64(b.lo))}
	}
	return a.corners(b, func(x, y int64) (int64, bool) { return x / y, x != math.MinInt64 || y != -1 })
}

// rem has the sign of the dividend. Its magnitude is below that of the divisor,
// and at most that of the dividend.
func (a interval) rem(b interval, unsigned bool) interval {
	switch {
	case a.isEmpty() || b.isEmpty():
		return empty
	case b.lo <= 0 && b.hi >= 0 || b.large(unsigned) || b.lo == math.MinInt64:
		return all
	}
	// The remainder is less than the largest divisor.
	limit := max(b.abs().hi-1, 0)
	switch {
	case a.large(unsigned):
		return interval{0, limit}
	case a.lo >= 0 && a.hi < b.abs().lo:
		return a
	}
	return interval{max(min(a.lo, 0), -limit), min(max(a.hi, 0), limit)}
}

// clamp returns the part of a, numbers of one type, for which "a+shift cmp b" holds for
// some element of b:
//
//	a = [0, 255], b = [1, 100], cmp = "<"     a < 100, the largest element of b:  [0, 99]
//
// If a+shift may wrap, the comparison does not narrow a.
func (a interval) clamp(c comparison, b interval, shift int64, width uint8, unsigned bool) interval {
	if a.isEmpty() || b.isEmpty() {
		return empty
	}
	// a+shift cmp b is a cmp b-shift, if a+shift does not wrap.
	if shift != 0 {
		if moved := a.add(point(shift)); moved.extend(width, !unsigned) != moved || moved == all || unsigned && moved.lo < 0 {
			return a
		}
		b = b.sub(point(shift))
		if b == all {
			return a
		}
	}
	if unsigned && width == 64 && (a.lo < 0 || b.lo < 0) {
		return a.clampLarge(c, b)
	}
	switch c {
	case cmpEQ:
		return a.intersect(b)
	case cmpNE:
		return a.without(b)
	case cmpLT:
		if b.hi == math.MinInt64 {
			return empty
		}
		return a.intersect(interval{math.MinInt64, b.hi - 1})
	case cmpLE:
		return a.intersect(interval{math.MinInt64, b.hi})
	case cmpGT:
		if b.lo == math.MaxInt64 {
			return empty
		}
		return a.intersect(interval{b.lo + 1, math.MaxInt64})
	}
	return a.intersect(interval{b.lo, math.MaxInt64})
}

// clampLarge is clamp for unsigned 64-bit numbers that may be 2^63 or more.
// Only an upper bound below 2^63 narrows a.
func (a interval) clampLarge(c comparison, b interval) interval {
	switch {
	case b.lo < 0:
		return a
	case c == cmpLT && b.hi == 0:
		return empty
	case c == cmpLT:
		return a.intersect(interval{0, b.hi - 1})
	case c == cmpLE:
		return a.intersect(interval{0, b.hi})
	case c == cmpEQ:
		return a.intersect(b)
	}
	return a
}

// without removes a single number b if it is an end of a. An interval cannot express a
// gap.
func (a interval) without(b interval) interval {
	switch {
	case !b.single():
		return a
	case a == b:
		return empty
	case a.lo == b.lo:
		return interval{a.lo + 1, a.hi}
	case a.hi == b.lo:
		return interval{a.lo, a.hi - 1}
	}
	return a
}

// meet combines two descriptions of one register, both of which are true. It
// intersects them as signed or as unsigned numbers, if one of these views
// narrows both, and otherwise returns the shorter interval.
func (a interval) meet(b interval, width uint8) interval {
	if a.isEmpty() || b.isEmpty() {
		return empty
	}
	for _, signed := range [2]bool{true, false} {
		w := window(width, signed)
		x, y := a.extend(width, signed), b.extend(width, signed)
		if w == x || w == y || width >= 64 {
			continue
		}
		return x.intersect(y)
	}
	if width >= 64 && a != all && b != all {
		return a.intersect(b)
	}
	if a.hi-a.lo >= 0 && (b.hi-b.lo < 0 || a.hi-a.lo < b.hi-b.lo) {
		return a
	}
	return b
}
