package access

import (
	"math"
	"math/bits"
)

// interval is a set of integers [lo, hi]. A register of n bits is in it when some
// integer of the set has those low bits, so that sums and products need no
// check for overflow; an extension to more bits is where a wrap shows.
//
// Every 64-bit pattern is in [MinInt64, MaxInt64]. Whatever does not fit in 64
// bits becomes that.
type interval struct{ lo, hi int64 }

var (
	all   = interval{math.MinInt64, math.MaxInt64}
	empty = interval{1, 0} // of what is never computed
)

func point(x int64) interval { return interval{x, x} }

func (a interval) isEmpty() bool { return a.lo > a.hi }

// single reports whether a has one element.
func (a interval) single() bool { return a.lo == a.hi }

// full is every pattern of so many bits.
func full(width uint8) interval { return window(width, true) }

// window is the range of an integer type.
func window(width uint8, signed bool) interval {
	switch {
	case width >= 64:
		return all
	case signed:
		return interval{-1 << (width - 1), 1<<(width-1) - 1}
	}
	return interval{0, 1<<width - 1}
}

// extend is the value of the low bits as a number of that type.
func (a interval) extend(width uint8, signed bool) interval {
	if width >= 64 || a.isEmpty() {
		return a
	}
	w := window(width, signed)
	size := int64(1) << width
	if uint64(a.hi)-uint64(a.lo) >= uint64(size) {
		return w
	}
	lo := (a.lo-w.lo)&(size-1) + w.lo // a.lo-w.lo may overflow, the mask keeps it right
	if n := a.hi - a.lo; lo <= w.hi-n {
		return interval{lo, lo + n}
	}
	return w
}

func (a interval) union(b interval) interval {
	switch {
	case a.isEmpty():
		return b
	case b.isEmpty():
		return a
	}
	return interval{min(a.lo, b.lo), max(a.hi, b.hi)}
}

func (a interval) intersect(b interval) interval {
	c := interval{max(a.lo, b.lo), min(a.hi, b.hi)}
	if c.isEmpty() {
		return empty
	}
	return c
}

func addOverflows(x, y int64) bool { s := x + y; return (s > x) != (y > 0) && y != 0 }

func (a interval) add(b interval) interval {
	if a.isEmpty() || b.isEmpty() {
		return empty
	}
	if addOverflows(a.lo, b.lo) || addOverflows(a.hi, b.hi) {
		return all
	}
	return interval{a.lo + b.lo, a.hi + b.hi}
}

func (a interval) neg() interval {
	switch {
	case a.isEmpty():
		return empty
	case a.lo == math.MinInt64:
		return all
	}
	return interval{-a.hi, -a.lo}
}

func (a interval) sub(b interval) interval {
	return a.add(b.neg())
}

func mulOverflows(x, y int64) bool {
	if x == 0 || y == 0 {
		return false
	}
	p := x * y
	return p/y != x || x == -1 && y == math.MinInt64 || y == -1 && x == math.MinInt64
}

// corners is the hull of f at the ends of both; f is monotone in each argument.
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

func (a interval) mul(b interval) interval {
	if a.lo >= 0 && b.lo >= 0 && a.hi <= math.MaxInt32 && b.hi <= math.MaxInt32 && a.lo <= a.hi && b.lo <= b.hi {
		return interval{a.lo * b.lo, a.hi * b.hi} // nearly always
	}
	return a.corners(b, func(x, y int64) (int64, bool) { return x * y, !mulOverflows(x, y) })
}

// mulHigh is the product shifted right by 0 < n < 64.
func (a interval) mulHigh(b interval, n uint) interval {
	return a.corners(b, func(x, y int64) (int64, bool) {
		high, low := bits.Mul64(uint64(x), uint64(y))
		if x < 0 {
			high -= uint64(y)
		}
		if y < 0 {
			high -= uint64(x)
		}
		sign := int64(high) >> (n - 1) // of what the result has no room for
		return int64(high<<(64-n) | low>>n), sign == 0 || sign == -1
	})
}

// shl shifts left; by the width or more leaves nothing.
func (a interval) shl(b interval, width uint8) interval {
	if a.isEmpty() || b.isEmpty() {
		return empty
	}
	if b.lo < 0 || b.hi >= int64(min(width, 63)) {
		return full(width)
	}
	return a.mul(interval{1 << b.lo, 1 << b.hi})
}

// shr shifts right. Of unsigned 64-bit numbers, those below 0 stand for large ones.
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

// and takes patterns; a constant with high bits is negative.
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

// or takes patterns.
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

func (a interval) xor(b interval, width uint8) interval {
	if a.isEmpty() || b.isEmpty() {
		return empty
	}
	if a.lo < 0 || b.lo < 0 {
		return full(width)
	}
	return interval{0, allOnes(a.hi | b.hi)}
}

// allOnes is the least 2^k-1 that is not below x.
func allOnes(x int64) int64 { return int64(1<<uint(bits.Len64(uint64(x))) - 1) }

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

// large reports whether a, of unsigned 64-bit numbers, may be 2^63 or more.
func (a interval) large(unsigned bool) bool { return unsigned && a.lo < 0 }

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

func (a interval) max(b interval, unsigned bool) interval {
	switch {
	case a.isEmpty() || b.isEmpty():
		return empty
	case a.large(unsigned) || b.large(unsigned):
		return all
	}
	return interval{max(a.lo, b.lo), max(a.hi, b.hi)}
}

// div truncates. The quotient by zero is not specified.
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

// rem has the sign of the dividend.
func (a interval) rem(b interval, unsigned bool) interval {
	switch {
	case a.isEmpty() || b.isEmpty():
		return empty
	case b.lo <= 0 && b.hi >= 0 || b.large(unsigned) || b.lo == math.MinInt64:
		return all
	}
	most := max(b.abs().hi-1, 0)
	switch {
	case a.large(unsigned):
		return interval{0, most}
	case a.lo >= 0 && a.hi < b.abs().lo:
		return a
	}
	return interval{max(min(a.lo, 0), -most), min(max(a.hi, 0), most)}
}

// clamp is the part of a, numbers of one type, for which "a+shift cmp some
// element of b" holds.
func (a interval) clamp(c comparison, b interval, shift int64, width uint8, unsigned bool) interval {
	if a.isEmpty() || b.isEmpty() {
		return empty
	}
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

// clampLarge is clamp for unsigned 64-bit numbers, one of which may be 2^63 or
// more: only an upper bound that is none of these says anything.
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

// without cuts an end off.
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

// meet is what two descriptions of one register have in common.
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
