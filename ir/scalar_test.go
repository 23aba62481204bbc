package ir

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every bit pattern of the narrow types reads back, NaNs with payloads included.
func TestEveryNarrowScalarRoundTrips(t *testing.T) {
	for _, typ := range []Type{U8, I8, U16, I16, F16, BF16} {
		for bits := range uint64(1) << (8 * typ.Size()) {
			s := Scalar{typ, bits}
			back, err := ParseScalar(typ, string(s.appendValue(nil)))
			if err != nil || back != s {
				t.Fatalf("%v with bits %#x prints %v, which reads back as %v, %v", typ, bits, s, back, err)
			}
		}
	}
}

func TestWideScalarsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for range 20_000 {
		for _, typ := range []Type{U32, I32, F32, U64, I64, F64} {
			s := Scalar{Type: typ, Bits: r.Uint64() >> r.IntN(64)}
			s.Bits = s.masked()
			back, err := ParseScalar(typ, string(s.appendValue(nil)))
			require.NoError(t, err)
			require.Equal(t, s, back)
		}
	}
}

func TestScalarText(t *testing.T) {
	for _, c := range []struct {
		s    Scalar
		want string
	}{
		{Scalar{F32, uint64(math.Float32bits(0.1))}, "f32=0.1"},
		{Scalar{F32, 1 << 31}, "f32=-0"},
		{Scalar{F32, 0x7f800000}, "f32=inf"},
		{Scalar{F64, math.Float64bits(math.Inf(-1))}, "f64=-inf"},
		{Scalar{F32, 0x7fc00000}, "f32=0x7fc00000"},
		{Scalar{F32, 0xff800001}, "f32=0xff800001"},
		{Scalar{F64, 1}, "f64=5e-324"},
		{Scalar{F16, 0x3c00}, "f16=1"},
		{Scalar{F16, 0x7bff}, "f16=65504"},
		{Scalar{F16, 1}, "f16=5.9604645e-08"},
		{Scalar{BF16, 0x3f80}, "bf16=1"},
		{Scalar{I8, 0xff}, "i8=-1"},
		{Scalar{I64, 1 << 63}, "i64=-9223372036854775808"},
		{Scalar{U64, math.MaxUint64}, "u64=18446744073709551615"},
		{Scalar{U8, 0x1ff}, "u8=255"}, // memory holds the low byte
		{Scalar{numTypes, 3}, "type(12)=0x3"},
	} {
		assert.Equal(t, c.want, c.s.String())
	}
}

// What has no exact value rounds to nearest, ties to even.
func TestNarrowFloatsRound(t *testing.T) {
	for _, c := range []struct {
		typ  Type
		text string
		want uint64
	}{
		{F16, "0.1", 0x2e66},
		{F16, "2049", 0x6800},   // halfway between 2048 and 2050
		{F16, "2051", 0x6802},   // halfway between 2050 and 2052
		{F16, "65519", 0x7bff},  // just below the overflow
		{F16, "-1e-9", 0x8000},  // underflows to -0
		{F16, "6.1e-5", 0x03ff}, // the largest subnormal
		{F16, "nan", 0x7e00},    // the canonical NaN
		{F16, "-inf", 0xfc00},   //
		{BF16, "3.14159", 0x4049},
		{BF16, "1e38", 0x7e96},
	} {
		s, err := ParseScalar(c.typ, c.text)
		require.NoError(t, err, c.text)
		assert.Equal(t, c.want, s.Bits, "%v=%s: %#x", c.typ, c.text, s.Bits)
	}
}
