package interp

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// approximation is a function for which the ISA allows an error. exact computes it
// independently of the interpreter, and near reports whether a result is close enough to
// the exact one.
type approximation struct {
	op    string // "ex2.approx.f32"
	exact func(x float64) float64
	near  func(got, exact, x float64) bool
	lo    float64 // the range of x that the error is stated for
	hi    float64
}

func relative(bound float64) func(got, exact, x float64) bool {
	return func(got, exact, _ float64) bool { return math.Abs(got-exact) <= bound*math.Abs(exact) }
}

func absolute(bound float64) func(got, exact, x float64) bool {
	return func(got, exact, _ float64) bool { return math.Abs(got-exact) <= bound }
}

// ulps is an error in units of the last place of the exact result in float32.
func ulps(n float64) func(got, exact, x float64) bool {
	return func(got, exact, _ float64) bool {
		_, e := math.Frexp(exact)
		return math.Abs(got-exact) <= n*math.Ldexp(1, max(e-24, -149))
	}
}

// logError is the bound of lg2.approx: absolute around 1, relative elsewhere.
func logError(got, exact, x float64) bool {
	if x > 0.5 && x < 2 {
		return math.Abs(got-exact) <= 0x1p-22
	}
	return math.Abs(got-exact) <= 0x1p-22*math.Abs(exact)
}

var infinite = math.Inf(1)

var approximationBounds = []approximation{
	{"ex2.approx.f32", exp2Series, ulps(2), -infinite, infinite},
	{"ex2.approx.f16", exp2Series, relative(math.Pow(2, -9.9)), -14, 15.9},
	{"ex2.approx.ftz.bf16", exp2Series, relative(0x1p-7), -126, 127.5},
	{"lg2.approx.f32", log2Series, logError, 0, infinite},
	{"sin.approx.f32", sinSeries, absolute(math.Pow(2, -20.5)), -2 * math.Pi, 2 * math.Pi},
	{"sin.approx.f32", sinSeries, absolute(math.Pow(2, -14.7)), -100 * math.Pi, 100 * math.Pi},
	{"cos.approx.f32", cosSeries, absolute(math.Pow(2, -20.5)), -2 * math.Pi, 2 * math.Pi},
	{"cos.approx.f32", cosSeries, absolute(math.Pow(2, -14.7)), -100 * math.Pi, 100 * math.Pi},
	{"tanh.approx.f32", tanhSeries, relative(0x1p-11), -infinite, infinite},
	{"tanh.approx.f16", tanhSeries, absolute(math.Pow(2, -10.987)), -infinite, infinite},
	{"tanh.approx.bf16", tanhSeries, relative(0x1p-8), -infinite, infinite},
	{"rsqrt.approx.f32", rsqrtRoot, relative(math.Pow(2, -22.9)), 0, infinite},
	{"sqrt.approx.f32", newtonRoot, relative(0x1p-23), 0, infinite},
	{"rcp.approx.f32", func(x float64) float64 { return 1 / x }, ulps(1), -infinite, infinite},
	{"rcp.approx.ftz.f64", func(x float64) float64 { return 1 / x }, relative(0x1p-19), -0x1p1020, 0x1p1020},
	{"rsqrt.approx.ftz.f64", rsqrtRoot, relative(0x1p-19), 0, infinite},
	{"rsqrt.approx.f64", rsqrtRoot, relative(0x1p-50), 0, infinite},
}

// exp2Series splits x into a whole number and a rest, whose power is a series.
func exp2Series(x float64) float64 {
	whole := math.RoundToEven(x)
	y, term, sum := (x-whole)*math.Ln2, 1.0, 1.0
	for k := 1; k < 30; k++ {
		term *= y / float64(k)
		sum += term
	}
	return math.Ldexp(sum, int(min(max(whole, -3000), 3000)))
}

// log2Series is the area tangent's series of the fraction.
func log2Series(x float64) float64 {
	frac, e := math.Frexp(x)
	if frac < math.Sqrt2/2 {
		frac, e = 2*frac, e-1
	}
	z := (frac - 1) / (frac + 1)
	power, sum := z, 0.0
	for k := 1; k < 60; k += 2 {
		sum += power / float64(k)
		power *= z * z
	}
	return float64(e) + 2*sum/math.Ln2
}

// turn is x less whole turns, with pi to 300 bits.
func turn(x float64) float64 {
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798", 10, 300, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	full := new(big.Float).SetPrec(300).Mul(pi, big.NewFloat(2))
	n := math.RoundToEven(x / (2 * math.Pi))
	r, _ := new(big.Float).SetPrec(300).Sub(big.NewFloat(x), new(big.Float).SetPrec(300).Mul(full, big.NewFloat(n))).Float64()
	return r
}

func sinSeries(x float64) float64 {
	y := turn(x)
	term, sum := y, y
	for k := 2; k < 60; k += 2 {
		term *= -y * y / float64(k*(k+1))
		sum += term
	}
	return sum
}

func cosSeries(x float64) float64 {
	y := turn(x)
	term, sum := 1.0, 1.0
	for k := 2; k < 60; k += 2 {
		term *= -y * y / float64((k-1)*k)
		sum += term
	}
	return sum
}

// tanhSeries is a series near 0, where the quotient of powers would cancel.
func tanhSeries(x float64) float64 {
	if math.Abs(x) < 0.1 {
		y := x * x
		return x * (1 - y/3 + 2*y*y/15 - 17*y*y*y/315 + 62*y*y*y*y/2835 - 1382*y*y*y*y*y/155925)
	}
	p := exp2Series(-2 * math.Abs(x) / math.Ln2)
	return math.Copysign((1-p)/(1+p), x)
}

// newtonRoot starts from half the exponent.
func newtonRoot(x float64) float64 {
	if x == 0 {
		return 0
	}
	_, e := math.Frexp(x)
	r := math.Ldexp(1, e/2)
	for range 8 {
		r = (r + x/r) / 2
	}
	return r
}

func rsqrtRoot(x float64) float64 { return 1 / newtonRoot(x) }

// TestApproximationsStayWithinTheISA sweeps every exponent of both signs with dense
// and with random fractions.
func TestApproximationsStayWithinTheISA(t *testing.T) {
	for _, a := range approximationBounds {
		t.Run(fmt.Sprintf("%s in %.4g to %.4g", a.op, a.lo, a.hi), func(t *testing.T) { a.sweep(t) })
	}
}

func (a approximation) sweep(t *testing.T) {
	typ := numerics[a.op[strings.LastIndex(a.op, ".")+1:]]
	inputs := a.inputs(typ)
	o := opTest{body: a.op + " %d, %a;", dst: "b" + typ.name[len(typ.name)-2:], sources: []string{"b" + typ.name[len(typ.name)-2:]}}
	checked := 0
	for from := 0; from < len(inputs); from += 1024 {
		rows := make([][]uint64, 0, 1024)
		for _, v := range inputs[from:min(from+1024, len(inputs))] {
			rows = append(rows, []uint64{v})
		}
		got, err := o.run(t, rows)
		require.NoError(t, err)
		for i, row := range rows {
			x := toNumber(typ, row[0])
			exact, result := a.exact(x), toNumber(typ, got[i])
			largest := toNumber(typ, typ.inf()-1)
			switch {
			case strings.Contains(a.op, ".ftz") && math.Abs(exact) < toNumber(typ, 1<<typ.frac):
				require.LessOrEqual(t, math.Abs(result), toNumber(typ, 1<<typ.frac), "%s of %x", a.op, x)
			case math.Abs(exact) > largest: // the ISA bounds what can be represented
			default:
				require.True(t, a.near(result, exact, x), "%s of %x is %x, and exactly %x", a.op, x, result, exact)
				checked++
			}
		}
	}
	require.Greater(t, checked, len(inputs)/3, "most inputs must have a finite result")
}

// inputs are bits of numbers in the range, normal ones and, where they count,
// subnormal ones.
func (a approximation) inputs(typ numeric) []uint64 {
	r := rand.New(rand.NewPCG(31, 32))
	step, random := 1, 64
	if typ.bits == 64 {
		step, random = 16, 16
	}
	if testing.Short() {
		random /= 8
	}
	var list []uint64
	for e := 0; e < 1<<typ.exp-1; e += step {
		var fractions []uint64
		for k := range typ.frac {
			fractions = append(fractions, 1<<k, 1<<typ.frac-1<<k)
		}
		for range random {
			fractions = append(fractions, r.Uint64N(1<<typ.frac))
		}
		for _, f := range append(fractions, 0) {
			for _, negative := range []bool{false, true} {
				v := typ.withSign(uint64(e)<<typ.frac|f, negative)
				x := toNumber(typ, v)
				if strings.Contains(a.op, ".ftz") && e == 0 || x < a.lo || x > a.hi || x == 0 || math.IsInf(exp2Series(x), 0) && strings.HasPrefix(a.op, "ex2") {
					continue
				}
				list = append(list, v)
			}
		}
	}
	return list
}

// toNumber is the value of the bits of a float of a type.
func toNumber(typ numeric, v uint64) float64 {
	if typ.isNaN(v) {
		return math.NaN()
	}
	if typ.isInf(v) {
		return math.Copysign(math.Inf(1), map[bool]float64{true: -1, false: 1}[typ.sign(v)])
	}
	d := typ.value(v)
	m, _ := new(big.Float).SetInt(d.m).Float64()
	return math.Copysign(math.Ldexp(m, d.e), map[bool]float64{true: -1, false: 1}[typ.sign(v)])
}

// TestDivisionsStayWithinTheISA compares div.approx and div.full with exact quotients.
func TestDivisionsStayWithinTheISA(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	f32 := numerics["f32"]
	for _, op := range []string{"div.approx.f32", "div.full.f32", "div.full.ftz.f32"} {
		rows := make([][]uint64, 1024)
		for i := range rows {
			// Divisors between 2^-126 and 2^126, which is the range of the bound.
			b := f32.withSign((1+r.Uint64N(252))<<23|r.Uint64N(1<<23), r.IntN(2) == 0)
			rows[i] = []uint64{f32.withSign((1+r.Uint64N(254))<<23|r.Uint64N(1<<23), r.IntN(2) == 0), b}
		}
		o := opTest{body: op + " %d, %a, %b;", dst: "f32", sources: []string{"f32", "f32"}}
		got, err := o.run(t, rows)
		require.NoError(t, err)
		for i, row := range rows {
			exact := toNumber(f32, row[0]) / toNumber(f32, row[1])
			if m := math.Abs(exact); m > math.MaxFloat32 || m < 0x1p-126 {
				continue
			}
			require.True(t, ulps(2)(toNumber(f32, got[i]), exact, 0), "%s of %x", op, row)
		}
	}
}
