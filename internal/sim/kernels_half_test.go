package sim_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// halfToFloat is the value of an IEEE half.
func halfToFloat(h uint16) float64 {
	exponent, fraction := int(h>>10&31), float64(h&1023)
	v := math.Ldexp(fraction, -24)
	switch exponent {
	case 0:
	case 31:
		v = math.Inf(1)
		if fraction != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if h>>15 != 0 {
		v = -v
	}
	return v
}

// halves lists the values of all halves that are not NaN, in order: rounding is
// looking the neighbours up, not an algorithm that could share a mistake.
var halves = func() []float64 {
	var v []float64
	for h := 0xfc00; h > 0x8000; h-- {
		v = append(v, halfToFloat(uint16(h)))
	}
	for h := 0; h <= 0x7c00; h++ {
		v = append(v, halfToFloat(uint16(h)))
	}
	return v
}()

// neighbours are the largest half not above v and the smallest not below it.
func neighbours(v float64) (below, above float64) {
	lo, hi := 0, len(halves)-1 // halves[lo] <= v <= halves[hi]
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; halves[mid] <= v {
			lo = mid
		} else {
			hi = mid
		}
	}
	switch v {
	case halves[lo]:
		return v, v
	case halves[hi]:
		return v, v
	}
	return halves[lo], halves[hi]
}

const largestHalf = 65504

// roundHalf rounds to the nearest half, and to the even one of two.
func roundHalf(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	// Half way from the largest number to what would be the next is infinite.
	if math.Abs(v) >= largestHalf+16 {
		return math.Copysign(math.Inf(1), v)
	}
	below, above := neighbours(v)
	below, above = max(below, -largestHalf), min(above, largestHalf)
	nearest := above
	if down, up := v-below, above-v; down < up || down == up && evenHalf(below) {
		nearest = below
	}
	return signOf(v, nearest)
}

// signOf is the result of rounding v, where a zero has the sign of v.
func signOf(v, result float64) float64 {
	if result == 0 {
		return math.Copysign(0, v)
	}
	return result
}

// evenHalf reports whether the last bit of a half's encoding is 0.
func evenHalf(v float64) bool {
	_, e := math.Frexp(v)
	unit := math.Ldexp(1, max(e-11, -24))
	return math.Mod(v/unit, 2) == 0
}

func TestHalfToFloatAgainstKnownValues(t *testing.T) {
	for h, want := range map[uint16]float64{0x0000: 0, 0x0001: 0x1p-24, 0x03ff: 0x1.ff8p-15, 0x0400: 0x1p-14, 0x3c00: 1, 0x3555: 0.333251953125,
		0xc000: -2, 0x7bff: 65504, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1)} {
		require.Equal(t, want, halfToFloat(h), "%#04x", h)
	}
	for v, want := range map[float64]float64{1 + 0x1p-11: 1, 1 + 3*0x1p-11: 1 + 0x1p-9, 65519: 65504, 65520: math.Inf(1), 0x1p-25: 0, 0x1.8p-24: 0x1p-23} {
		require.Equal(t, want, roundHalf(v), "%v", v)
	}
}

// halfInputs are all kinds of halves, and random ones.
func halfInputs(n int, seed uint64) []uint16 {
	special := []uint16{0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00}
	v := make([]uint16, n)
	for i, w := range words(n, 0, seed) {
		if v[i] = uint16(w); w>>16%4 == 0 {
			v[i] = special[w>>20%uint32(len(special))]
		}
	}
	return v
}

// requireHalves compares values, taking any NaN for any other.
func requireHalves(t *testing.T, want []float64, got []uint16, per int, what string) {
	t.Helper()
	require.Len(t, got, len(want))
	for i, h := range got {
		v := halfToFloat(h)
		if !(math.Float64bits(v) == math.Float64bits(want[i]) || math.IsNaN(v) && math.IsNaN(want[i])) {
			require.FailNow(t, "wrong half", "%s: result %d of element %d is %v, want %v", what, i%per, i/per, v, want[i])
		}
	}
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func TestHalfArithmetic(t *testing.T) {
	onEachBuild(t, "half", func(t *testing.T, g *gpu) {
		const n = 2000
		a, b, c := halfInputs(n, 1), halfInputs(n, 2), halfInputs(n, 3)
		var want []float64
		for i := range a {
			x, y, z := halfToFloat(a[i]), halfToFloat(b[i]), halfToFloat(c[i])
			order := 3 - 2*b2f(x < y) - b2f(x >= y)
			// Sums, products and quotients of halves are exact in float64, or far from ties.
			want = append(want, roundHalf(x+y), roundHalf(x-y), roundHalf(x*y), roundHalf(math.FMA(x, y, z)), roundHalf(x/y), -x, math.Abs(x), order)
		}
		out := zeros[uint16](g, len(want))
		g.launch("arithmetic", line(cover(n, 128), 128), up(g, a), up(g, b), up(g, c), out, int32(n))
		requireHalves(t, want, out.down(), 8, "arithmetic")

		want = nil
		for i := 0; i < n; i += 2 {
			x0, x1, y0, y1 := halfToFloat(a[i]), halfToFloat(a[i+1]), halfToFloat(b[i]), halfToFloat(b[i+1])
			z0, z1 := halfToFloat(c[i]), halfToFloat(c[i+1])
			want = append(want, roundHalf(x0+y0), roundHalf(x1+y1), roundHalf(x0-y0), roundHalf(x1-y1), roundHalf(x0*y0), roundHalf(x1*y1),
				roundHalf(math.FMA(x0, y0, z0)), roundHalf(math.FMA(x1, y1, z1)), -x0, -x1, x1, x0, b2f(x0 > y0), b2f(x1 > y1))
		}
		out = zeros[uint16](g, len(want))
		g.launch("arithmetic2", line(cover(n/2, 128), 128), up(g, a), up(g, b), up(g, c), out, int32(n/2))
		requireHalves(t, want, out.down(), 14, "arithmetic2")
	})
}

func TestHalfConversions(t *testing.T) {
	onEachBuild(t, "half", func(t *testing.T, g *gpu) {
		x := []float32{0, 1, -1, 1 + 0x1p-11, 1 + 3*0x1p-11, -1 - 0x1p-11, 65504, 65519, 65520, 1e6, -1e6, 0x1p-24, 0x1p-25, 0x1.8p-25, 3e-8, 1e-30, -1e-30,
			2.5, 3.5, -2.5, 1000.7, float32(math.Inf(1)), float32(math.Inf(-1))}
		x = append(x, scaled(300, 100, 4)...)
		n := len(x)
		var rounded, back []float64
		var integers []int32
		for _, v := range doubles(x) {
			below, above := neighbours(v)
			nearest, zero := roundHalf(v), below
			if v < 0 {
				zero = above
			}
			rounded = append(rounded, nearest, signOf(v, zero), signOf(v, above), signOf(v, below))
			back = append(back, nearest)
			toInt := func(f float64) int32 {
				return int32(min(max(f, math.MinInt32), math.MaxInt32)) // conversions saturate
			}
			integers = append(integers, toInt(math.RoundToEven(nearest)), toInt(math.Trunc(nearest)))
		}
		h, f, i := zeros[uint16](g, 4*n), zeros[float32](g, n), zeros[int32](g, 2*n)
		g.launch("conversions", line(cover(n, 64), 64), up(g, x), h, f, i, int32(n))
		got := h.down()
		for k := range got { // rounding toward zero and away from an infinity stays finite
			want := rounded[k]
			if math.IsInf(want, 0) && !math.IsInf(float64(x[k/4]), 0) && (k%4 == 1 || k%4 == 2 && want < 0 || k%4 == 3 && want > 0) {
				rounded[k] = math.Copysign(largestHalf, want)
			}
		}
		requireHalves(t, rounded, got, 4, "conversions")
		within(t, back, f.down(), always(0))
		require.Equal(t, integers, i.down())
	})
}

func TestHalfDotProduct(t *testing.T) {
	onEachBuild(t, "half", func(t *testing.T, g *gpu) {
		const n = 100
		a, b := make([]uint16, 2*n), make([]uint16, 2*n)
		want := 0.0
		for i, w := range words(2*n, 0, 5) {
			a[i], b[i] = uint16(w&0x03ff|0x3800), uint16(w>>16&0x03ff|0xb400)
			want += roundHalf(halfToFloat(a[i]) * halfToFloat(b[i]))
		}
		out := zeros[float32](g, 1)
		g.launch("dot", line(1, 32), up(g, a), up(g, b), out, int32(n))
		require.InDelta(t, want, out.down()[0], math.Abs(want)*0x1p-24*10)
	})
}

func TestHalfFunctions(t *testing.T) {
	onEachBuild(t, "half", func(t *testing.T, g *gpu) {
		const n = 1000
		x := make([]uint16, n)
		for i := range x {
			x[i] = uint16(0x2c00 + 6*i) // 1/16 to about 6
		}
		out := zeros[uint16](g, 8*n)
		g.launch("functions", line(cover(n, 64), 64), up(g, x), out, int32(n))
		got := out.down()
		for i, h := range x {
			v := halfToFloat(h)
			for k, want := range []float64{math.Exp(v), math.Log(v), math.Sqrt(v), 1 / math.Sqrt(v), math.Sin(v), math.Cos(v), math.Floor(v), 1 / v} {
				// The CUDA guide: correctly rounded but for one unit here and there.
				_, e := math.Frexp(want)
				unit := math.Ldexp(1, max(e-11, -24))
				require.InDelta(t, want, halfToFloat(got[8*i+k]), 1.5*unit, "function %d of %v", k, v)
			}
		}
	})
}
