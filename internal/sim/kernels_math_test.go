package sim_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// mathFunction is a function of the math library: its errors in units of the last
// place, as the CUDA C++ Programming Guide states them for single and for double
// precision, and the inputs to try.
type mathFunction struct {
	name     string
	f32, f64 float64
	want     func(x float64) float64
	from, to float64
}

var mathFunctions = []mathFunction{
	{"sqrt", 0, 0, math.Sqrt, 0, 1e6},
	{"rsqrt", 2, 1, func(x float64) float64 { return 1 / math.Sqrt(x) }, 0, 1e6},
	{"cbrt", 1, 1, math.Cbrt, -1e6, 1e6},
	{"exp", 2, 1, math.Exp, -100, 100},
	{"exp2", 2, 1, math.Exp2, -150, 130},
	{"exp10", 2, 1, exp10, -40, 40},
	{"expm1", 1, 1, math.Expm1, -5, 20},
	{"log", 1, 1, math.Log, 0, 10},
	{"log2", 1, 1, math.Log2, 0, 1e5},
	{"log10", 2, 1, math.Log10, 0, 1e5},
	{"log1p", 1, 1, math.Log1p, -1, 10},
	{"sin", 2, 2, math.Sin, -100, 100},
	{"sin", 2, 2, func(x float64) float64 { hi, lo := modulo2Pi(x); return math.Sin(hi) + lo*math.Cos(hi) }, -1e30, 1e30},
	{"cos", 2, 2, math.Cos, -100, 100},
	{"cos", 2, 2, func(x float64) float64 { hi, lo := modulo2Pi(x); return math.Cos(hi) - lo*math.Sin(hi) }, -1e30, 1e30},
	{"tan", 4, 2, math.Tan, -100, 100},
	{"asin", 4, 2, math.Asin, -1, 1},
	{"acos", 3, 2, acos, -1, 1},
	{"atan", 2, 2, math.Atan, -20, 20},
	{"sinh", 3, 2, math.Sinh, -20, 20},
	{"cosh", 2, 1, math.Cosh, -20, 20},
	{"tanh", 2, 1, math.Tanh, -10, 10},
	{"asinh", 3, 3, math.Asinh, -1e3, 1e3},
	{"acosh", 4, 3, math.Acosh, 1, 1e3},
	{"atanh", 3, 2, math.Atanh, -1, 1},
	{"erf", 2, 2, math.Erf, -4, 4},
	{"erfc", 4, 5, math.Erfc, -4, 9},
	{"erfinv", 2, 5, math.Erfinv, -1, 1},
	{"lgamma", 6, 4, lgamma, 0, 100},
	{"tgamma", 11, 10, gamma, 0, 30},
	{"floor", 0, 0, math.Floor, -1e3, 1e3},
	{"ceil", 0, 0, math.Ceil, -1e3, 1e3},
	{"trunc", 0, 0, math.Trunc, -1e3, 1e3},
	{"round", 0, 0, math.Round, -100, 100},
	{"rint", 0, 0, math.RoundToEven, -100, 100},
}

// exp10 splits x, since math.Pow loses digits, and carries the rounding of the product
// with ln 10.
func exp10(x float64) float64 {
	whole := math.Trunc(x)
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return math.Pow(10, x)
	}
	const ln10Rest = -2.1707562233822494e-16 // math.Ln10 less its float64
	rest := x - whole
	hi := rest * math.Ln10
	lo := math.FMA(rest, math.Ln10, -hi) + rest*ln10Rest
	e := math.Exp(hi)
	return (e + e*lo) * math.Pow10(int(whole))
}

// pi has the digits that reducing 1e30 to the period takes.
var pi, _, _ = big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803", 10, 280, big.ToNearestEven)

// modulo2Pi is x less a multiple of 2 pi, as a number and what it was rounded by.
// math.Sin is off by several units without it.
func modulo2Pi(x float64) (hi, lo float64) {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return math.NaN(), 0
	}
	period := new(big.Float).Mul(pi, big.NewFloat(2))
	rest := new(big.Float).SetPrec(280).SetFloat64(x)
	times, _ := new(big.Float).Quo(rest, period).Int(nil)
	rest.Sub(rest, period.Mul(period, new(big.Float).SetPrec(280).SetInt(times)))
	hi, _ = rest.Float64()
	lo, _ = rest.Sub(rest, big.NewFloat(hi)).Float64()
	return hi, lo
}

// acos avoids the difference from pi/2 that math.Acos takes.
func acos(x float64) float64 { return 2 * math.Atan2(math.Sqrt(1-x), math.Sqrt(1+x)) }

// lgamma is infinite at both infinities, as C has it.
func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	if math.IsInf(x, -1) {
		v = math.Inf(1)
	}
	return v
}

// gamma is the gamma function; at zero and below C differs from Go at the integers.
func gamma(x float64) float64 {
	if x == math.Trunc(x) && x < 0 || math.IsInf(x, -1) {
		return math.NaN()
	}
	return math.Gamma(x)
}

// inputs are numbers of a range, and those at which functions are special.
func (f mathFunction) inputs(n int) []float64 {
	rng := rand.New(rand.NewPCG(1, uint64(len(f.name))))
	v := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, math.Inf(1), math.Inf(-1), math.NaN(), 1e-30, -1e-30, 0x1p-126, 1e-42}
	for len(v) < n {
		v = append(v, f.from+(f.to-f.from)*rng.Float64())
	}
	return v
}

// ulps is the distance of two numbers in units of the last place of want, for a format
// of the given precision and smallest exponent; 0 for two NaNs.
func ulps(got, want float64, precision, smallest int) float64 {
	switch {
	case got == want || math.IsNaN(got) && math.IsNaN(want):
		return 0
	case math.IsNaN(got) || math.IsNaN(want) || math.IsInf(want, 0) || math.IsInf(got, 0):
		return math.Inf(1)
	}
	_, e := math.Frexp(want)
	return math.Abs(got-want) / math.Ldexp(1, max(e-precision, smallest))
}

func TestMathFunctions(t *testing.T) {
	g := load(t, "math")
	const n = 600
	for _, f := range mathFunctions {
		x := f.inputs(n)
		narrow := singles(x)
		out32, out64 := zeros[float32](g, n), zeros[float64](g, n)
		g.launch("f32_"+f.name, line(cover(n, 128), 128), up(g, narrow), out32, int32(n))
		g.launch("f64_"+f.name, line(cover(n, 128), 128), up(g, x), out64, int32(n))
		for i, got := range out32.down() {
			want := f.want(float64(narrow[i]))
			if w := float32(want); math.IsInf(float64(w), 0) || f.f32 == 0 {
				want = float64(w)
			}
			// Half a unit for rounding the exact result.
			require.LessOrEqual(t, ulps(float64(got), want, 24, -149), f.f32+0.5, "%sf(%v) is %v, want %v", f.name, narrow[i], got, want)
		}
		slack := 0.0
		if f.f64 > 0 { // Go's own error
			slack = 2
		}
		for i, got := range out64.down() {
			want := f.want(x[i])
			require.LessOrEqual(t, ulps(got, want, 53, -1074), f.f64+slack, "%s(%v) is %v, want %v", f.name, x[i], got, want)
		}
	}
}

func TestMathFunctionsOfTwo(t *testing.T) {
	g := load(t, "math")
	for _, f := range []struct {
		name     string
		f32, f64 float64
		want     func(x, y float64) float64
		scale    float64
	}{
		{"pow", 9, 2, math.Pow, 8},
		{"atan2", 3, 2, math.Atan2, 5},
		{"hypot", 3, 2, math.Hypot, 100},
		{"fmod", 0, 0, math.Mod, 1000},
		{"remainder", 0, 0, math.Remainder, 1000},
		{"fdim", 0, 0, fdim, 5},
		{"copysign", 0, 0, math.Copysign, 5},
		{"nextafter", 0, 0, math.Nextafter, 5},
		{"fmin", 0, 0, fmin, 5},
		{"fmax", 0, 0, func(x, y float64) float64 { return -fmin(-x, -y) }, 5},
	} {
		special := []float64{0, math.Copysign(0, -1), 1, -1, 2.5, -3, math.Inf(1), math.Inf(-1), math.NaN(), 1e-20}
		var x, y []float64
		for _, a := range special {
			for _, b := range special {
				x, y = append(x, a), append(y, b)
			}
		}
		for i, v := range random[float64](600, 5) {
			x, y = append(x, v*f.scale), append(y, random[float64](1, uint64(i))[0]*3)
		}
		n := len(x)
		a, b := singles(x), singles(y)
		out32, out64 := zeros[float32](g, n), zeros[float64](g, n)
		g.launch("f32_"+f.name, line(cover(n, 128), 128), up(g, a), up(g, b), out32, int32(n))
		g.launch("f64_"+f.name, line(cover(n, 128), 128), up(g, x), up(g, y), out64, int32(n))
		for i, got := range out32.down() {
			want := f.want(float64(a[i]), float64(b[i]))
			if f.name == "nextafter" {
				want = float64(math.Nextafter32(a[i], b[i]))
			}
			if w := float32(want); math.IsInf(float64(w), 0) || f.f32 == 0 {
				want = float64(w)
			}
			require.LessOrEqual(t, ulps(float64(got), want, 24, -149), f.f32+0.5, "%sf(%v, %v) is %v, want %v", f.name, a[i], b[i], got, want)
		}
		slack := 0.0
		if f.f64 > 0 {
			slack = 2
		}
		for i, got := range out64.down() {
			want := f.want(x[i], y[i])
			require.LessOrEqual(t, ulps(got, want, 53, -1074), f.f64+slack, "%s(%v, %v) is %v, want %v", f.name, x[i], y[i], got, want)
		}
	}
}

// fmin is C's: a NaN loses against a number.
func fmin(x, y float64) float64 {
	switch {
	case math.IsNaN(x):
		return y
	case math.IsNaN(y):
		return x
	}
	return min(x, y)
}

func fdim(x, y float64) float64 {
	if x <= y {
		return 0
	}
	return x - y
}

func TestFastMathFunctions(t *testing.T) {
	type fast struct{ Sin, Cos, Exp, Exp10, Log, Log2, Log10, Divide, Power, Saturate, Rcp, Sqrt, Tan float32 }
	g := load(t, "math")
	const n = 500
	x, y := scaled(n, math.Pi, 1), make([]float32, n)
	for i, v := range scaled(n, 4, 2) {
		y[i] = float32(math.Exp(float64(v)))
	}
	out := zeros[fast](g, n)
	g.launch("fast", line(cover(n, 64), 64), up(g, x), up(g, y), out, int32(n))
	for i, got := range out.down() {
		a, b := float64(x[i]), float64(y[i])
		near := func(want float64, got float32, tolerance float64, what string) {
			t.Helper()
			require.InDelta(t, want, float64(got), tolerance, "%s at %v, %v", what, a, b)
		}
		unit := func(v float64) float64 { _, e := math.Frexp(v); return math.Ldexp(1, e-24) }
		// The bounds that the Programming Guide gives for the intrinsics.
		near(math.Sin(a), got.Sin, 0x1.8p-22, "__sinf")
		near(math.Cos(a), got.Cos, 0x1.ep-22, "__cosf")
		near(math.Exp(a), got.Exp, unit(math.Exp(a))*(2+math.Floor(math.Abs(1.173*a))), "__expf")
		near(exp10(a), got.Exp10, unit(exp10(a))*(2+math.Floor(math.Abs(2.97*a))), "__exp10f")
		logBound := func(v, perUnit float64) float64 { return max(0x1p-21, perUnit*unit(v)) }
		near(math.Log(b), got.Log, logBound(math.Log(b), 3), "__logf")
		near(math.Log2(b), got.Log2, logBound(math.Log2(b), 2), "__log2f")
		near(math.Log10(b), got.Log10, logBound(math.Log10(b), 3), "__log10f")
		near(a/b, got.Divide, 2*unit(a/b), "__fdividef")
		power := math.Pow(b, a) // exp2f(y * __log2f(x)): the error of the logarithm, times y
		near(power, got.Power, power*math.Abs(a)*0x1p-20+4*unit(power), "__powf")
		near(min(max(a, 0), 1), got.Saturate, 0, "__saturatef")
		near(float64(float32(1/b)), got.Rcp, 0, "__frcp_rn")
		near(float64(float32(math.Sqrt(b))), got.Sqrt, 0, "__fsqrt_rn")
		near(math.Tan(a), got.Tan, (1+math.Abs(math.Tan(a)))*math.Abs(1/math.Cos(a))*0x1p-20, "__tanf")
	}
}

func TestDirectedRounding(t *testing.T) {
	type directed struct {
		Add, Mul, Div, Sqrt, Fma      [3]float32
		DAdd, DMul, DDiv, DSqrt, DFma [3]float64
	}
	modes := []big.RoundingMode{big.ToZero, big.ToPositiveInf, big.ToNegativeInf}
	// Enough bits for every sum and product here to be exact; for quotients and roots,
	// enough to tell on which side of a neighbour they lie.
	const exact = 600
	wide := func(v float64) *big.Float { return new(big.Float).SetPrec(exact).SetFloat64(v) }
	results := func(x, y, z float64) []*big.Float {
		a, b, c := wide(x), wide(y), wide(z)
		f := func() *big.Float { return new(big.Float).SetPrec(exact) }
		return []*big.Float{f().Add(a, b), f().Mul(a, b), f().Quo(a, b), f().Sqrt(b), f().Add(f().Mul(a, b), c)}
	}
	round := func(v *big.Float, precision uint, mode big.RoundingMode) float64 {
		r, _ := new(big.Float).SetPrec(precision).SetMode(mode).Set(v).Float64()
		return r
	}

	g := load(t, "math")
	const n = 300
	x, y, z := random[float64](n, 6), random[float64](n, 7), random[float64](n, 8)
	for i := range y {
		y[i] = math.Abs(y[i])
		if i%3 == 0 { // cancellation, and exact results
			x[i], y[i], z[i] = math.Round(x[i]*16), math.Round(y[i]*8)+1, x[i]
		}
	}
	out := zeros[directed](g, n)
	g.launch("directed", line(cover(n, 64), 64), up(g, x), up(g, y), up(g, z), out, int32(n))
	for i, got := range out.down() {
		narrow := results(float64(float32(x[i])), float64(float32(y[i])), float64(float32(z[i])))
		full := results(x[i], y[i], z[i])
		for m, mode := range modes {
			for k, v := range [][3]float32{got.Add, got.Mul, got.Div, got.Sqrt, got.Fma} {
				require.Equal(t, round(narrow[k], 24, mode), float64(v[m]), "single operation %d, %v, of %v, %v, %v", k, mode, x[i], y[i], z[i])
			}
			for k, v := range [][3]float64{got.DAdd, got.DMul, got.DDiv, got.DSqrt, got.DFma} {
				require.Equal(t, round(full[k], 53, mode), v[m], "double operation %d, %v, of %v, %v, %v", k, mode, x[i], y[i], z[i])
			}
		}
	}
}
