package interp

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

var bigModes = map[string]big.RoundingMode{
	"rn": big.ToNearestEven, "rz": big.ToZero, "rm": big.ToNegativeInf, "rp": big.ToPositiveInf,
}

// exactly is a*b+c, a/b or sqrt(a) with far more bits than the result needs.
var exactly = map[string]func(v []*big.Float) *big.Float{
	"add": func(v []*big.Float) *big.Float { return wide().Add(v[0], v[1]) },
	"sub": func(v []*big.Float) *big.Float { return wide().Sub(v[0], v[1]) },
	"mul": func(v []*big.Float) *big.Float { return wide().Mul(v[0], v[1]) },
	"fma": func(v []*big.Float) *big.Float { return wide().Add(wide().Mul(v[0], v[1]), v[2]) },
	// Quotients and roots of 53-bit numbers that do not end differ from a
	// representable number or a midpoint within 120 bits, so 4000 are exact enough.
	"div":  func(v []*big.Float) *big.Float { return wide().Quo(v[0], v[1]) },
	"rcp":  func(v []*big.Float) *big.Float { return wide().Quo(big.NewFloat(1), v[0]) },
	"sqrt": func(v []*big.Float) *big.Float { return wide().Sqrt(wide().Abs(v[0])) },
}

func wide() *big.Float { return new(big.Float).SetPrec(4000) }

// nasty draws numbers whose sums and products come near to ties: few set bits,
// neighbours of powers of two, and any bits.
func nasty(r *rand.Rand, mant, exp uint) uint64 {
	frac := r.Uint64()
	switch r.IntN(4) {
	case 0:
		frac = 1 << r.UintN(mant)
	case 1:
		frac = -uint64(1 << r.UintN(mant))
	case 2:
		frac = 1<<r.UintN(mant) ^ 2<<r.UintN(mant) | r.Uint64N(2)
	}
	bias := uint64(1)<<(exp-1) - 1
	e := bias - 28 + r.Uint64N(56)
	return r.Uint64N(2)<<(mant+exp) | e<<mant | frac&(1<<mant-1)
}

func TestFloatRoundingAgreesWithBigFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, op := range []string{"add", "sub", "mul", "fma", "div", "rcp", "sqrt"} {
		for _, mode := range []string{"rn", "rz", "rm", "rp"} {
			for _, typ := range []string{"f32", "f64"} {
				checkRounding(t, r, op, mode, typ)
			}
		}
	}
}

func checkRounding(t *testing.T, r *rand.Rand, op, mode, typ string) {
	arity := map[string]int{"add": 2, "sub": 2, "mul": 2, "div": 2, "fma": 3, "rcp": 1, "sqrt": 1}[op]
	mant, exp := uint(23), uint(8)
	if typ == "f64" {
		mant, exp = 52, 11
	}
	o := opTest{body: fmt.Sprintf("%s.%s.%s %%d, %s;", op, mode, typ, "%a, %b, %c"[:4*arity-2]), dst: typ}
	if op == "sqrt" {
		o.body = fmt.Sprintf("abs.%s %%a, %%a; ", typ) + o.body
	}
	for range arity {
		o.sources = append(o.sources, typ)
	}
	rows := make([][]uint64, 1024)
	for i := range rows {
		for range arity {
			rows[i] = append(rows[i], nasty(r, mant, exp))
		}
	}
	got, err := o.run(t, rows)
	require.NoError(t, err)
	for i, row := range rows {
		var v []*big.Float
		for _, bits := range row {
			v = append(v, wide().SetFloat64(toFloat(typ, bits)))
		}
		exact := exactly[op](v)
		want, _ := new(big.Float).SetPrec(mant + 1).SetMode(bigModes[mode]).Set(exact).Float64()
		if exact.Sign() == 0 {
			want = 0 // of either sign
		}
		require.Equal(t, want, toFloat(typ, got[i])+0, "%s of %x (%v)", o.body, row, v)
	}
}

func toFloat(typ string, bits uint64) float64 {
	if typ == "f32" {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

func TestFma32RoundsSubnormalsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200_000 {
		a := math.Float32frombits(uint32(nasty(r, 23, 8)))
		b := math.Float32frombits(uint32(nasty(r, 23, 8))) * 0x1p-64
		c := math.Float32frombits(r.Uint32N(1<<23) | r.Uint32N(2)<<31)
		a *= 0x1p-64
		v := []*big.Float{wide().SetFloat64(float64(a)), wide().SetFloat64(float64(b)), wide().SetFloat64(float64(c))}
		want, _ := exactly["fma"](v).Float32()
		require.Equal(t, want, fma32(a, b, c), "%x %x %x", a, b, c)
	}
}

// corner is any number, a small one, or one next to an end of the range.
func corner(r *rand.Rand, size uint) uint64 {
	v := r.Uint64()
	switch r.IntN(4) {
	case 0:
		v = 1<<(size-1) + r.Uint64N(5) - 2
	case 1:
		v = r.Uint64N(20) - 10
	}
	return v & (1<<(size-1)<<1 - 1)
}

// TestHalfAgreesWithBigFloat rounds through every neighbourhood of binary16.
func TestHalfAgreesWithBigFloat(t *testing.T) {
	for h := range uint32(0x7c00) {
		lo, hi := fromHalf(uint16(h)), fromHalf(uint16(h+1))
		if h == 0x7bff {
			hi = 65536
		}
		mid := (lo + hi) / 2
		even := uint16(h + h&1)
		require.Equal(t, uint16(h), half(lo))
		require.Equal(t, even, half(mid), "%x", h)
		require.Equal(t, uint16(h), half(math.Nextafter(mid, 0)))
		require.Equal(t, uint16(h+1), half(math.Nextafter(mid, 1e9)))
		require.Equal(t, uint16(h), uint16(binary16.encode(mid, toZero)))
		require.Equal(t, uint16(h)|0x8000, uint16(binary16.encode(-mid, up)))
		require.Equal(t, uint16(h+1), uint16(binary16.encode(mid, up)))
	}
}
