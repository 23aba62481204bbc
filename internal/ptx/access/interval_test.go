package access

import (
	"math"
	"math/rand/v2"
	"testing"
)

// For random numbers of two intervals, the result of an operation is in the interval of the
// result. Results are computed as a processor does.
func TestIntervalsHoldTheirResults(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	ends := []int64{0, 1, -1, 2, 3, 15, 16, -16, 255, 256, 65535, math.MaxInt32, math.MinInt32, 1 << 32, 1<<32 - 1, math.MaxInt64, math.MinInt64}
	end := func() int64 {
		if rng.IntN(3) == 0 {
			return int64(rng.Uint64()) >> rng.IntN(64)
		}
		return ends[rng.IntN(len(ends))] + rng.Int64N(3) - 1
	}
	some := func() interval {
		a, b := end(), end()
		if rng.IntN(4) == 0 {
			b = a
		}
		return interval{min(a, b), max(a, b)}
	}
	member := func(a interval) int64 {
		switch rng.IntN(3) {
		case 0:
			return a.lo
		case 1:
			return a.hi
		}
		if n := uint64(a.hi) - uint64(a.lo); n < math.MaxUint64 {
			return int64(uint64(a.lo) + rng.Uint64N(n+1))
		}
		return int64(rng.Uint64())
	}
	for range 200_000 {
		a, b := some(), some()
		x, y := member(a), member(b)
		check := func(op string, out interval, want int64) {
			if want < out.lo || want > out.hi {
				t.Fatalf("%s: %d of %v and %d of %v give %d, not in %v", op, x, a, y, b, want, out)
			}
		}
		check("add", a.add(b), x+y)
		check("sub", a.sub(b), x-y)
		check("mul", a.mul(b), x*y)
		check("and", a.and(b, 64), x&y)
		check("or", a.or(b, 64), x|y)
		check("xor", a.xor(b, 64), x^y)
		check("min", a.min(b, false), min(x, y))
		check("max", a.max(b, false), max(x, y))
		check("umin", a.min(b, true), int64(min(uint64(x), uint64(y))))
		check("umax", a.max(b, true), int64(max(uint64(x), uint64(y))))
		check("abs", a.abs(), max(x, -x))
		check("neg", a.neg(), -x)
		if y != 0 {
			check("udiv", a.div(b, true), int64(uint64(x)/uint64(y)))
			check("urem", a.rem(b, true), int64(uint64(x)%uint64(y)))
			check("div", a.div(b, false), x/y)
			check("rem", a.rem(b, false), x%y)
		}
		if shift := (interval{b.lo & 63, b.lo&63 + (b.hi & 7)}); shift.hi < 70 {
			k := uint64(member(shift))
			check("shl", a.shl(shift, 64), x<<k)
			check("shr", a.shr(shift, false), x>>k)
			check("ushr", a.shr(shift, true), int64(uint64(x)>>k))
		}
		narrow := func(a interval) interval { return a.extend(32, true) }
		check("mulhi", narrow(a).mulHigh(narrow(b), 32), int64(int32(x))*int64(int32(y))>>32)
		check("s32", a.extend(32, true), int64(int32(x)))
		check("u32", a.extend(32, false), int64(uint32(x)))
		check("s8", a.extend(8, true), int64(int8(x)))
		check("u16", a.extend(16, false), int64(uint16(x)))
		check("union", a.union(b), x)
		for c, holds := range []bool{x == y, x != y, x < y, x <= y, x > y, x >= y} {
			if holds {
				check("clamp", a.clamp(comparison(c), b, 0, 64, false), x)
			}
		}
		for c, holds := range []bool{x == y, x != y, uint64(x) < uint64(y), uint64(x) <= uint64(y), uint64(x) > uint64(y), uint64(x) >= uint64(y)} {
			if holds {
				check("uclamp", a.clamp(comparison(c), b, 0, 64, true), x)
			}
		}
	}
}
