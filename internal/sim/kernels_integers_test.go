package sim_test

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
)

// integer is the types that C calls integers.
type integer interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64
}

// arithmeticResult is the struct Result of integers.cu.
type arithmeticResult[T integer] struct{ Sum, Difference, Product, Quotient, Remainder, Left, Right, Less T }

// wordsOf is n values of a type: half of them random, the others near a power of two,
// where division by shifting and multiplying goes wrong.
func wordsOf[T integer](n int, seed uint64) []T {
	v := make([]T, n)
	for i, w := range words(n, 0, seed) {
		hi := words(1, 0, uint64(w))[0]
		if v[i] = T(uint64(hi)<<32 | uint64(w)); i%2 == 0 {
			v[i] = T(1)<<(w%64) + T(hi%3) - 1
		}
	}
	return v
}

func testArithmetic[T integer](t *testing.T, g *gpu, kernel string) {
	const n = 500
	a, b := wordsOf[T](n, 1), wordsOf[T](n, 2)
	width := T(binary.Size(T(0)) * 8)
	want := make([]arithmeticResult[T], n)
	for i := range want {
		if b[i] == 0 {
			b[i] = 3 // C does not define it
		}
		// Go defines the smallest value divided by -1, as PTX does: it is itself.
		x, y := a[i], b[i]
		shift := y & (width - 1)
		want[i] = arithmeticResult[T]{x + y, x - y, x * y, x / y, x % y, x << shift, x >> shift, 0}
		if x < y {
			want[i].Less = 1
		}
	}
	out := zeros[arithmeticResult[T]](g, n)
	g.launch(kernel, line(cover(n, 96), 96), up(g, a), up(g, b), out, int32(n))
	for i, got := range out.down() {
		require.Equal(t, want[i], got, "%s of %d and %d", kernel, a[i], b[i])
	}
}

func TestIntegerArithmetic(t *testing.T) {
	onEachBuild(t, "integers", func(t *testing.T, g *gpu) {
		testArithmetic[int8](t, g, "arithmetic_s8")
		testArithmetic[uint8](t, g, "arithmetic_u8")
		testArithmetic[int16](t, g, "arithmetic_s16")
		testArithmetic[uint16](t, g, "arithmetic_u16")
		testArithmetic[int32](t, g, "arithmetic_s32")
		testArithmetic[uint32](t, g, "arithmetic_u32")
		testArithmetic[int64](t, g, "arithmetic_s64")
		testArithmetic[uint64](t, g, "arithmetic_u64")
	})
}

func TestDivisionByConstants(t *testing.T) {
	onEachBuild(t, "integers", func(t *testing.T, g *gpu) {
		x := append(wordsOf[int32](500, 3), 0, 1, -1, 2147483647, -2147483648, 9, 10, 11)
		var want []int32
		for _, v := range x {
			u := uint32(v)
			want = append(want, v/3, v%3, v/7, v%10, v/16, v%16, int32(u/641), int32(u%1000), v/-5, v/2147483647)
		}
		out := zeros[int32](g, len(want))
		g.launch("by_constants", line(cover(len(x), 128), 128), up(g, x), out, int32(len(x)))
		require.Equal(t, want, out.down())
	})
}

// bitsResult is the struct Bits of integers.cu.
type bitsResult struct {
	CLZ, FFS, POPC, BREV, Perm, FunnelLeft, FunnelRight, MulHi, UMul24, USad, HAdd, RHAdd uint32
	MulHiSigned, Mul24, Sad                                                               int32
	CLZ64, FFS64, POPC64                                                                  uint32
	BREV64, Mul64Hi                                                                       uint64
}

// firstSet is C's ffs: counted from 1, 0 when there is none.
func firstSet(v uint64) uint32 {
	if v == 0 {
		return 0
	}
	return uint32(bits.TrailingZeros64(v)) + 1
}

func bitsOf(a, b uint32) bitsResult {
	w := uint64(a)<<32 | uint64(b)
	var bytes [8]byte // of a, then of b, as __byte_perm numbers them
	binary.LittleEndian.PutUint32(bytes[:], a)
	binary.LittleEndian.PutUint32(bytes[4:], b)
	low24 := func(v uint32) int64 { return int64(int32(v<<8) >> 8) }
	hi, _ := bits.Mul64(w, w^0x123456789abcdef)
	return bitsResult{
		CLZ: uint32(bits.LeadingZeros32(a)), FFS: firstSet(uint64(a)), POPC: uint32(bits.OnesCount32(a)), BREV: bits.Reverse32(a),
		Perm:       binary.LittleEndian.Uint32([]byte{bytes[4], bytes[7], bytes[2], bytes[5]}),
		FunnelLeft: uint32((uint64(b)<<32 | uint64(a)) << (b & 31) >> 32),
		// __funnelshift_rc takes the word at a bit of b:a, at most the 32nd.
		FunnelRight: uint32((uint64(b)<<32 | uint64(a)) >> min(a, 32)),
		MulHi:       uint32(uint64(a) * uint64(b) >> 32), UMul24: (a & 0xffffff) * (b & 0xffffff), USad: max(a, b) - min(a, b) + 5,
		HAdd: uint32((uint64(a) + uint64(b)) / 2), RHAdd: uint32((uint64(a) + uint64(b) + 1) / 2),
		MulHiSigned: int32(int64(int32(a)) * int64(int32(b)) >> 32), Mul24: int32(low24(a) * low24(b)),
		Sad:   int32(uint32(max(int64(int32(a)), int64(int32(b)))-min(int64(int32(a)), int64(int32(b)))) + 7),
		CLZ64: uint32(bits.LeadingZeros64(w)), FFS64: firstSet(w), POPC64: uint32(bits.OnesCount64(w)), BREV64: bits.Reverse64(w), Mul64Hi: hi,
	}
}

func TestBitIntrinsics(t *testing.T) {
	onEachBuild(t, "integers", func(t *testing.T, g *gpu) {
		const n = 500
		a, b := wordsOf[uint32](n, 4), wordsOf[uint32](n, 5)
		a[0], b[0] = 0, 0
		out := zeros[bitsResult](g, n)
		g.launch("bits", line(cover(n, 64), 64), up(g, a), up(g, b), out, int32(n))
		for i, got := range out.down() {
			require.Equal(t, bitsOf(a[i], b[i]), got, "%#x and %#x", a[i], b[i])
		}
	})
}

// packedResult is the struct Packed of integers.cu.
type packedResult struct {
	Add4, Sub4, AbsDiffU4, MaxS4, MinU2, CmpGtU4, AvgU4, AddSS2, Neg2 uint32
	Dp4a                                                              int32
	Dp2a                                                              uint32
}

// each applies f to the parts of two words, each of the given bits.
func each(a, b uint32, width int, f func(x, y uint32) uint32) (r uint32) {
	mask := uint32(1)<<width - 1
	for s := 0; s < 32; s += width {
		r |= f(a>>s&mask, b>>s&mask) & mask << s
	}
	return r
}

func packedOf(a, b uint32) packedResult {
	r := packedResult{
		Add4:      each(a, b, 8, func(x, y uint32) uint32 { return x + y }),
		Sub4:      each(a, b, 8, func(x, y uint32) uint32 { return x - y }),
		AbsDiffU4: each(a, b, 8, func(x, y uint32) uint32 { return max(x, y) - min(x, y) }),
		MaxS4:     each(a, b, 8, func(x, y uint32) uint32 { return uint32(max(int8(x), int8(y))) }),
		MinU2:     each(a, b, 16, func(x, y uint32) uint32 { return min(x, y) }),
		CmpGtU4: each(a, b, 8, func(x, y uint32) uint32 {
			if x > y {
				return 0xff
			}
			return 0
		}),
		AvgU4:  each(a, b, 8, func(x, y uint32) uint32 { return (x + y + 1) / 2 }),
		AddSS2: each(a, b, 16, func(x, y uint32) uint32 { return uint32(min(max(int32(int16(x))+int32(int16(y)), -32768), 32767)) }),
		Neg2:   each(a, 0, 16, func(x, _ uint32) uint32 { return -x }),
		Dp4a:   11, Dp2a: 13,
	}
	for k := range 4 {
		r.Dp4a += int32(int8(a>>(8*k))) * int32(int8(b>>(8*k)))
	}
	for k := range 2 {
		r.Dp2a += a >> (16 * k) & 0xffff * (b >> (8 * k) & 0xff)
	}
	return r
}

func TestPackedIntegers(t *testing.T) {
	onEachBuild(t, "integers", func(t *testing.T, g *gpu) {
		const n = 500
		a, b := wordsOf[uint32](n, 6), words(n, 0, 7)
		out := zeros[packedResult](g, n)
		g.launch("packed", line(cover(n, 64), 64), up(g, a), up(g, b), out, int32(n))
		for i, got := range out.down() {
			require.Equal(t, packedOf(a[i], b[i]), got, "%#x and %#x", a[i], b[i])
		}
	})
}

func TestCarryChains(t *testing.T) {
	onEachBuild(t, "integers", func(t *testing.T, g *gpu) {
		const n = 200
		a, b := wordsOf[uint64](2*n, 8), wordsOf[uint64](2*n, 9)
		a[0], a[1], b[0], b[1] = ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)
		number := func(w []uint64) *big.Int {
			hi := new(big.Int).SetUint64(w[1])
			return hi.Lsh(hi, 64).Or(hi, new(big.Int).SetUint64(w[0]))
		}
		var wantSum, wantProduct []uint64
		part := func(v *big.Int, i int) uint64 {
			return new(big.Int).And(new(big.Int).Rsh(v, uint(64*i)), new(big.Int).SetUint64(^uint64(0))).Uint64()
		}
		for i := 0; i < 2*n; i += 2 {
			x, y := number(a[i:]), number(b[i:])
			s, p := new(big.Int).Add(x, y), new(big.Int).Mul(x, y)
			wantSum = append(wantSum, part(s, 0), part(s, 1))
			wantProduct = append(wantProduct, part(p, 0), part(p, 1), part(p, 2), part(p, 3))
		}
		sums, products := zeros[uint64](g, 2*n), zeros[uint64](g, 4*n)
		g.launch("wide", line(cover(n, 64), 64), up(g, a), up(g, b), sums, products, int32(n))
		require.Equal(t, wantSum, sums.down())
		require.Equal(t, wantProduct, products.down())
	})
}
