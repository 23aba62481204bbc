package interp

import (
	"math"
	"math/bits"
	"unsafe"
)

// signed is a signed lane type.
type signed interface{ int16 | int32 | int64 }

// unsigned is an unsigned lane type.
type unsigned interface{ uint16 | uint32 | uint64 }

// integer is a lane type of integer operations.
type integer interface{ signed | unsigned }

// width returns the number of bits of a type.
func width[T any]() uint {
	var z T
	return uint(unsafe.Sizeof(z)) * 8
}

// opTable maps "name.type" to the handler of an operation whose operands are
// registers in the order d, a, b, c.
type opTable map[string]handler

// ops is filled once, before the first kernel is lowered.
var ops = buildOps()

// buildOps returns the table of operations. The specialised handlers of addHot come last
// and replace general ones.
func buildOps() opTable {
	t := opTable{}
	addSigned[int16, uint16](t, "s16")
	addSigned[int32, uint32](t, "s32")
	addSigned[int64, uint64](t, "s64")
	addUnsigned[uint16](t, "u16")
	addUnsigned[uint32](t, "u32")
	addUnsigned[uint64](t, "u64")
	addBits[uint16](t, "b16")
	addBits[uint32](t, "b32")
	addBits[uint64](t, "b64")
	addWide[int16, int32](t, "s16")
	addWide[uint16, uint32](t, "u16")
	addWide[int32, int64](t, "s32")
	addWide[uint32, uint64](t, "u32")
	addFields(t)
	addMisc32(t)
	addCarry(t)
	addPredicates(t)
	addFloat32(t)
	addFloat64(t)
	addHalf(t)
	addHot(t)
	return t
}

// addInteger registers the operations that signed and unsigned types share. hi returns
// the upper half of the product.
func addInteger[T integer](t opTable, typ string, hi func(a, b T) T) {
	add := func(a, b T) T { return a + b }
	t["add."+typ] = lift2(add)
	t["sub."+typ] = lift2(func(a, b T) T { return a - b })
	t["mul.lo."+typ] = lift2(func(a, b T) T { return a * b })
	t["mul.hi."+typ] = lift2(hi)
	t["mad.lo."+typ] = lift3(func(a, b, c T) T { return a*b + c })
	t["mad.hi."+typ] = lift3(func(a, b, c T) T { return hi(a, b) + c })
	t["min."+typ] = lift2(func(a, b T) T { return min(a, b) })
	t["max."+typ] = lift2(func(a, b T) T { return max(a, b) })
	t["div."+typ] = lift2(divide[T])
	t["rem."+typ] = lift2(remainder[T])
	t["shr."+typ] = lift2(func(a T, n uint32) T { return a >> n })
	t["sad."+typ] = lift3(func(a, b, c T) T { return c + max(a, b) - min(a, b) })
}

// divide returns all ones for a zero divisor, as the hardware does. PTX does not
// specify it.
func divide[T integer](a, b T) T {
	if b == 0 {
		var z T
		return ^z
	}
	return a / b
}

// remainder returns the dividend for a zero divisor, as the hardware does.
func remainder[T integer](a, b T) T {
	if b == 0 {
		return a
	}
	return a % b
}

// addSigned registers the operations of a signed type. The upper half of a signed product
// is that of the unsigned one, corrected for negative factors.
func addSigned[T signed, U unsigned](t opTable, typ string) {
	addInteger(t, typ, func(a, b T) T {
		h := mulHi(U(a), U(b))
		if a < 0 {
			h -= U(b)
		}
		if b < 0 {
			h -= U(a)
		}
		return T(h)
	})
	t["neg."+typ] = lift1(func(a T) T { return -a })
	t["abs."+typ] = lift1(func(a T) T { return max(a, -a) })
}

// addUnsigned registers the operations of an unsigned type.
func addUnsigned[T unsigned](t opTable, typ string) {
	addInteger(t, typ, mulHi[T])
}

// mulHi returns the upper half of an unsigned product.
func mulHi[T unsigned](a, b T) T {
	if width[T]() == 64 {
		hi, _ := bits.Mul64(uint64(a), uint64(b))
		return T(hi)
	}
	return T(uint64(a) * uint64(b) >> width[T]())
}

// addBits registers the operations on untyped bits.
func addBits[T unsigned](t opTable, typ string) {
	t["and."+typ] = lift2(func(a, b T) T { return a & b })
	t["or."+typ] = lift2(func(a, b T) T { return a | b })
	t["xor."+typ] = lift2(func(a, b T) T { return a ^ b })
	t["not."+typ] = lift1(func(a T) T { return ^a })
	t["shl."+typ] = lift2(func(a T, n uint32) T { return a << n })
	t["shr."+typ] = lift2(func(a T, n uint32) T { return a >> n })
	t["cnot."+typ] = lift1(func(a T) T {
		if a == 0 {
			return 1
		}
		return 0
	})
	t["mov."+typ] = lift1(func(a T) T { return a })
}

// addWide registers products of twice the width.
func addWide[T integer, W integer](t opTable, typ string) {
	t["mul.wide."+typ] = lift2(func(a, b T) W { return W(a) * W(b) })
	t["mad.wide."+typ] = lift3(func(a, b T, c W) W { return W(a)*W(b) + c })
}

// addFields registers the operations on bit fields and counts, see "Integer Arithmetic
// Instructions" in the PTX ISA.
func addFields(t opTable) {
	t["bfe.u32"] = lift3(extract[uint32])
	t["bfe.u64"] = lift3(extract[uint64])
	t["bfe.s32"] = lift3(func(a int32, p, n uint32) int32 { return int32(extractSigned(uint64(int64(a)), p, n, 32)) })
	t["bfe.s64"] = lift3(func(a int64, p, n uint32) int64 { return extractSigned(uint64(a), p, n, 64) })
	t["popc.b32"] = lift1(func(a uint32) uint32 { return uint32(bits.OnesCount32(a)) })
	t["popc.b64"] = lift1(func(a uint64) uint32 { return uint32(bits.OnesCount64(a)) })
	t["clz.b32"] = lift1(func(a uint32) uint32 { return uint32(bits.LeadingZeros32(a)) })
	t["clz.b64"] = lift1(func(a uint64) uint32 { return uint32(bits.LeadingZeros64(a)) })
	t["brev.b32"] = lift1(bits.Reverse32)
	t["brev.b64"] = lift1(bits.Reverse64)
	t["bfind.u32"] = lift1(func(a uint32) uint32 { return uint32(bits.Len32(a)) - 1 })
	t["bfind.u64"] = lift1(func(a uint64) uint32 { return uint32(bits.Len64(a)) - 1 })
	t["bfind.s32"] = lift1(func(a int32) uint32 { return uint32(bits.Len32(uint32(a^a>>31))) - 1 })
	t["bfind.s64"] = lift1(func(a int64) uint32 { return uint32(bits.Len64(uint64(a^a>>63))) - 1 })
	t["bfind.shiftamt.u32"] = lift1(func(a uint32) uint32 { return shiftAmount(bits.Len32(a), 32) })
	t["bfind.shiftamt.u64"] = lift1(func(a uint64) uint32 { return shiftAmount(bits.Len64(a), 64) })
	t["bfind.shiftamt.s32"] = lift1(func(a int32) uint32 { return shiftAmount(bits.Len32(uint32(a^a>>31)), 32) })
	t["bfind.shiftamt.s64"] = lift1(func(a int64) uint32 { return shiftAmount(bits.Len64(uint64(a^a>>63)), 64) })
}

// shiftAmount returns the left shift that moves the leading bit to the top, or all ones
// if there is no leading bit.
func shiftAmount(length, width int) uint32 {
	if length == 0 {
		return allLanes
	}
	return uint32(width - length)
}

// extract is bfe of an unsigned type. Position and length are taken modulo 256.
func extract[T unsigned](a T, pos, length uint32) T {
	a >>= pos & 0xff
	if n := length & 0xff; n < uint32(width[T]()) {
		a &= 1<<n - 1
	}
	return a
}

// extractSigned fills the bits above the field with the bit at
// min(pos+length-1, msb).
func extractSigned(a uint64, pos, length uint32, width uint) int64 {
	p, n := uint(pos&0xff), uint(length&0xff)
	if n == 0 {
		return 0
	}
	// The sign is that of the field's last bit, or of the register if the field exceeds it.
	top := min(p+n-1, width-1)
	sign := int64(a<<(63-top)) >> 63
	if p > top {
		return sign
	}
	return int64(a<<(63-top)) >> (63 - top + p)
}

// insert is bfi: the low length bits of a placed at pos of b.
func insert[T unsigned](a, b T, pos, length uint32) T {
	p, n := pos&0xff, length&0xff
	field := ^T(0)
	if n < uint32(width[T]()) {
		field = 1<<n - 1
	}
	field <<= p
	return b&^field | a<<p&field
}

// addMisc32 registers operations that exist only for registers of 32 bits.
func addMisc32(t opTable) {
	t["mul24.lo.u32"] = lift2(func(a, b uint32) uint32 { return (a & 0xffffff) * (b & 0xffffff) })
	t["mul24.lo.s32"] = lift2(func(a, b int32) int32 { return (a << 8 >> 8) * (b << 8 >> 8) })
	t["mul24.hi.u32"] = lift2(func(a, b uint32) uint32 { return uint32(uint64(a&0xffffff) * uint64(b&0xffffff) >> 16) })
	t["mul24.hi.s32"] = lift2(func(a, b int32) int32 { return int32(int64(a<<8>>8) * int64(b<<8>>8) >> 16) })
	t["mad24.lo.u32"] = lift3(func(a, b, c uint32) uint32 { return (a&0xffffff)*(b&0xffffff) + c })
	t["mad24.lo.s32"] = lift3(func(a, b, c int32) int32 { return (a<<8>>8)*(b<<8>>8) + c })
	t["shf.l.wrap.b32"] = lift3(func(a, b, n uint32) uint32 { return uint32((uint64(b)<<32 | uint64(a)) << (n & 31) >> 32) })
	t["shf.r.wrap.b32"] = lift3(func(a, b, n uint32) uint32 { return uint32((uint64(b)<<32 | uint64(a)) >> (n & 31)) })
	t["shf.l.clamp.b32"] = lift3(func(a, b, n uint32) uint32 { return uint32((uint64(b)<<32 | uint64(a)) << min(n, 32) >> 32) })
	t["shf.r.clamp.b32"] = lift3(func(a, b, n uint32) uint32 { return uint32((uint64(b)<<32 | uint64(a)) >> min(n, 32)) })
	t["add.sat.s32"] = lift2(func(a, b int32) int32 { return clamp32(int64(a) + int64(b)) })
	t["sub.sat.s32"] = lift2(func(a, b int32) int32 { return clamp32(int64(a) - int64(b)) })
	t["mad.hi.sat.s32"] = lift3(func(a, b, c int32) int32 { return clamp32(int64(a)*int64(b)>>32 + int64(c)) })
	t["mad24.hi.u32"] = lift3(func(a, b, c uint32) uint32 { return uint32(uint64(a&0xffffff)*uint64(b&0xffffff)>>16) + c })
	t["mad24.hi.s32"] = lift3(func(a, b, c int32) int32 { return int32(int64(a<<8>>8)*int64(b<<8>>8)>>16) + c })
	t["mad24.hi.sat.s32"] = lift3(func(a, b, c int32) int32 { return clamp32(int64(int32(int64(a<<8>>8)*int64(b<<8>>8)>>16)) + int64(c)) })
	t["min.relu.s32"] = lift2(func(a, b int32) int32 { return max(min(a, b), 0) })
	t["max.relu.s32"] = lift2(func(a, b int32) int32 { return max(a, b, 0) })
	t["fns.b32"] = lift3(findNthSet)
	t["bmsk.clamp.b32"] = lift2(func(pos, length uint32) uint32 { return uint32(bitsAt(uint64(pos), uint64(length))) })
	t["bmsk.wrap.b32"] = lift2(func(pos, length uint32) uint32 { return uint32(bitsAt(uint64(pos&31), uint64(length&31))) })
	t["szext.clamp.u32"] = lift2(func(a, n uint32) uint32 { return a & uint32(bitsAt(0, uint64(n))) })
	t["szext.wrap.u32"] = lift2(func(a, n uint32) uint32 { return a & uint32(bitsAt(0, uint64(n&31))) })
	t["szext.clamp.s32"] = lift2(func(a int32, n uint32) int32 { return signedField(a, n) })
	t["szext.wrap.s32"] = lift2(func(a int32, n uint32) int32 { return signedField(a, n&31) })
	addDot2(t)
	addPackedIntegers(t)
	t["dp4a.s32.s32"] = lift3(func(a, b, c int32) int32 { return dot4(a, b, c, signedByte, signedByte) })
	t["dp4a.s32.u32"] = lift3(func(a, b, c int32) int32 { return dot4(a, b, c, signedByte, unsignedByte) })
	t["dp4a.u32.s32"] = lift3(func(a, b, c int32) int32 { return dot4(a, b, c, unsignedByte, signedByte) })
	t["dp4a.u32.u32"] = lift3(func(a, b, c int32) int32 { return dot4(a, b, c, unsignedByte, unsignedByte) })
	for mode, f := range permutes {
		t["prmt.b32"+mode] = lift3(f)
		t["prmt"+mode+".b32"] = t["prmt.b32"+mode]
	}
	addSelect(t, "s32", func(c int32) bool { return c >= 0 })
	addSelect(t, "f32", func(c float32) bool { return c >= 0 })
	addSelect(t, "f32.ftz", func(c float32) bool { return flush(c) >= 0 })
}

// clamp32 saturates to int32.
func clamp32(v int64) int32 { return int32(min(max(v, math.MinInt32), math.MaxInt32)) }

// signedByte returns byte k of v, sign-extended.
func signedByte(v int32, k int) int32 { return int32(int8(v >> (8 * k))) }

// unsignedByte returns byte k of v.
func unsignedByte(v int32, k int) int32 { return int32(uint8(v >> (8 * k))) }

// dot4 is dp4a: c plus the dot product of the four bytes of a and b.
func dot4(a, b, c int32, left, right func(v int32, k int) int32) int32 {
	for k := range 4 {
		c += left(a, k) * right(b, k)
	}
	return c
}

// addDot2 registers dp2a: the dot product of two 16-bit numbers of a with the lower or
// upper pair of bytes of b.
func addDot2(t opTable) {
	half := map[string]func(a int32, k int) int32{
		"s32": func(a int32, k int) int32 { return int32(int16(a >> (16 * k))) },
		"u32": func(a int32, k int) int32 { return int32(uint16(a >> (16 * k))) },
	}
	octet := map[string]func(a int32, k int) int32{"s32": signedByte, "u32": unsignedByte}
	for first, mode := range []string{"lo", "hi"} {
		for ta, left := range half {
			for tb, right := range octet {
				t["dp2a."+mode+"."+ta+"."+tb] = lift3(func(a, b, c int32) int32 {
					return c + left(a, 0)*right(b, 2*first) + left(a, 1)*right(b, 2*first+1)
				})
			}
		}
	}
}

// addPackedIntegers registers the operations on both 16-bit halves of a register.
func addPackedIntegers(t opTable) {
	reg := func(name string, f func(a, b uint16) uint16) { t[name] = packed16(scalar[uint16]{f2: f}).lift() }
	signed := func(f func(a, b int16) int16) func(a, b uint16) uint16 {
		return func(a, b uint16) uint16 { return uint16(f(int16(a), int16(b))) }
	}
	sum := func(a, b uint16) uint16 { return a + b }
	reg("add.u16x2", sum)
	reg("add.s16x2", sum)
	reg("min.u16x2", func(a, b uint16) uint16 { return min(a, b) })
	reg("max.u16x2", func(a, b uint16) uint16 { return max(a, b) })
	reg("min.s16x2", signed(func(a, b int16) int16 { return min(a, b) }))
	reg("max.s16x2", signed(func(a, b int16) int16 { return max(a, b) }))
	reg("min.relu.s16x2", signed(func(a, b int16) int16 { return max(min(a, b), 0) }))
	reg("max.relu.s16x2", signed(func(a, b int16) int16 { return max(a, b, 0) }))
}

// findNthSet is fns: it returns the position of the offset-th set bit of mask, counted
// upward from base, or downward for a negative offset. It returns all ones if there is
// no such bit.
func findNthSet(mask, base uint32, offset int32) uint32 {
	step := 1
	if offset < 0 {
		step = -1
	}
	// The offset counts set bits, the first of which may be base itself.
	left := max(offset, -offset)
	if offset == 0 {
		left, mask = 1, mask&(1<<base)
	}
	for at := int(base); at >= 0 && at < 32; at += step {
		if mask>>at&1 == 0 {
			continue
		}
		if left--; left == 0 {
			return uint32(at)
		}
	}
	return allLanes
}

// bitsAt returns length ones from bit pos on.
func bitsAt(pos, length uint64) uint64 { return (1<<length - 1) << pos }

// signedField returns the low n bits of a as a signed number.
func signedField(a int32, n uint32) int32 {
	if n == 0 {
		return 0
	}
	shift := 32 - min(n, 32)
	return a << shift >> shift
}

// permutes are the modes of prmt. The default mode selects a byte by each nibble of the
// selector; the others use only its two lowest bits.
var permutes = map[string]func(a, b, c uint32) uint32{
	"": func(a, b, c uint32) uint32 {
		return permute(a, b, func(k uint32) uint32 { return c >> (4 * k) & 15 })
	},
	".f4e": func(a, b, c uint32) uint32 { return permute(a, b, func(k uint32) uint32 { return (c&3 + k) & 7 }) },
	".b4e": func(a, b, c uint32) uint32 { return permute(a, b, func(k uint32) uint32 { return (c&3 - k) & 7 }) },
	".rc8": func(a, b, c uint32) uint32 { return permute(a, b, func(uint32) uint32 { return c & 3 }) },
	".ecl": func(a, b, c uint32) uint32 { return permute(a, b, func(k uint32) uint32 { return max(k, c&3) }) },
	".ecr": func(a, b, c uint32) uint32 { return permute(a, b, func(k uint32) uint32 { return min(k, c&3) }) },
	".rc16": func(a, b, c uint32) uint32 {
		return permute(a, b, func(k uint32) uint32 { return c&1*2 + k&1 })
	},
}

// permute builds a word from four selected bytes of b:a; bit 3 of a selector
// replicates the byte's sign.
func permute(a, b uint32, sel func(k uint32) uint32) (d uint32) {
	both := uint64(b)<<32 | uint64(a)
	for k := range uint32(4) {
		s := sel(k)
		v := uint8(both >> (8 * (s & 7)))
		if s&8 != 0 {
			v = uint8(int8(v) >> 7)
		}
		d |= uint32(v) << (8 * k)
	}
	return d
}

// addSelect registers slct: a when the selector c is not negative, else b.
func addSelect[C int32 | float32](t opTable, typ string, first func(c C) bool) {
	t["slct.b16."+typ] = lift3(func(a, b uint16, c C) uint16 { return choose(first(c), a, b) })
	t["slct.b32."+typ] = lift3(func(a, b uint32, c C) uint32 { return choose(first(c), a, b) })
	t["slct.b64."+typ] = lift3(func(a, b uint64, c C) uint64 { return choose(first(c), a, b) })
}

// choose returns a if first is set, else b.
func choose[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// lop3Bits is lop3: bit i of the result is bit number 4·a_i + 2·b_i + c_i of lut. It is
// computed as the union of the minterms whose bit in lut is set.
func lop3Bits(a, b, c uint32, lut uint8) (d uint32) {
	for k := range 8 {
		if lut>>k&1 == 0 {
			continue
		}
		d |= (a ^ (uint32(k>>2&1) - 1)) & (b ^ (uint32(k>>1&1) - 1)) & (c ^ (uint32(k&1) - 1))
	}
	return d
}
