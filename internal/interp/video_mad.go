package interp

import (
	"math"
	"math/bits"
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// videoMad is vmad: a product of parts plus c, shifted right. At most one of the
// product and c is negated.
type videoMad struct {
	a, b             part
	signedA, signedB bool
	negProduct, negC bool
	plusOne, sat     bool
	shift            uint
}

// vmad lowers vmad. The sign of the product is that of the factors' signs together.
func (l *lowering) vmad() error {
	in := l.in
	list := types(in)
	if len(list) != 3 || len(in.Args) != 4 {
		return l.fail("needs three types and four operands")
	}
	v := videoMad{
		signedA: list[1].Signed(), signedB: list[2].Signed(),
		negProduct: in.Args[1].Neg != in.Args[2].Neg, negC: in.Args[3].Neg,
		plusOne: has(in, "po"), sat: has(in, "sat"),
	}
	var ok [2]bool
	v.a, ok[0] = parsePart(in.Args[1].Name)
	v.b, ok[1] = parsePart(in.Args[2].Name)
	if !ok[0] || !ok[1] || in.Args[0].Name != "" || v.negProduct && v.negC {
		return l.fail("the interpreter cannot run these operands")
	}
	switch {
	case has(in, "shr7"):
		v.shift = 7
	case has(in, "shr15"):
		v.shift = 15
	}
	// The signs are part of the operation now.
	plain := *in
	plain.Args = slices.Clone(in.Args)
	for i := range plain.Args {
		plain.Args[i].Neg = false
	}
	l.in = &plain
	defer func() { l.in = in }()
	return l.registers(lift3(v.run), costALU, ptx.B32, 4, 4, 4, 4)
}

// run computes one lane. The product of two u32 does not fit into int64 with a sign, so
// sums have 128 bits.
func (v videoMad) run(a, b, c uint32) uint32 {
	x, y := v.a.extract(uint64(a), v.signedA), v.b.extract(uint64(b), v.signedB)
	signed := v.signedA || v.signedB
	// The low 64 bits of a product are the same for signed and unsigned factors.
	sum := int128{lo: uint64(x) * uint64(y)}
	if signed {
		sum.hi = x * y >> 63
	}
	addend := int128From(part{0, 32}.extract(uint64(c), signed || v.negProduct))
	switch {
	case v.negProduct:
		sum = sum.negated()
	case v.negC:
		addend = addend.negated()
	case v.plusOne:
		addend = addend.plus(int128{lo: 1})
	}
	sum = sum.plus(addend).shiftedRight(v.shift)
	switch {
	case !v.sat:
	case signed || v.negProduct || v.negC:
		return uint32(sum.clamp(math.MinInt32, math.MaxInt32))
	default:
		return uint32(sum.clamp(0, math.MaxUint32))
	}
	return uint32(sum.lo)
}

// int128 is a number of 128 bits in two's complement.
type int128 struct {
	hi int64
	lo uint64
}

// int128From extends v.
func int128From(v int64) int128 { return int128{v >> 63, uint64(v)} }

// plus returns a + b.
func (a int128) plus(b int128) int128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return int128{a.hi + b.hi + int64(carry), lo}
}

// negated returns -a.
func (a int128) negated() int128 { return int128{^a.hi, ^a.lo}.plus(int128{lo: 1}) }

// shiftedRight returns a >> n, n < 64.
func (a int128) shiftedRight(n uint) int128 {
	return int128{a.hi >> n, a.lo>>n | uint64(a.hi)<<(64-n)}
}

// clamp saturates to a range within int64.
func (a int128) clamp(lo, hi int64) int64 {
	switch {
	case a.hi < 0 && (a.hi != -1 || int64(a.lo) >= 0):
		return lo
	case a.hi > 0 || a.hi == 0 && int64(a.lo) < 0:
		return hi
	}
	return min(max(int64(a.lo), lo), hi)
}
