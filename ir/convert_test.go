package ir

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNewScalarKeepsTheValue(t *testing.T) {
	for _, c := range []struct {
		t    Type
		v    any
		bits uint64
	}{
		{I32, int32(-1), 0xffffffff},
		{I32, math.MaxInt32, 0x7fffffff},
		{U8, 255, 255},
		{I8, int8(-128), 0x80},
		{U64, uint64(math.MaxUint64), math.MaxUint64},
		{I64, -2, math.MaxUint64 - 1},
		{F32, 0.5, 0x3f000000},
		{F32, math.Copysign(0, -1), 0x80000000},
		{F32, 3, 0x40400000},
		{F32, math.Inf(1), 0x7f800000},
		{F32, 1e-300, 0},
		{F64, 1.0, 0x3ff0000000000000},
		{F16, uint16(0x3c00), 0x3c00},
		{F32, Scalar{F32, 0x7fa00001}, 0x7fa00001}, // a NaN that arithmetic would change
	} {
		got, err := NewScalar(c.t, c.v)
		require.NoError(t, err)
		assert.Equal(t, Scalar{c.t, c.bits}, got, "NewScalar(%v, %v)", c.t, c.v)
	}
}

func TestNewScalarRefusesWhatDoesNotFit(t *testing.T) {
	for _, c := range []struct {
		t Type
		v any
	}{
		{I32, math.MaxInt32 + 1}, {I32, uint32(1 << 31)}, {U32, -1}, {U8, 256}, {I8, -129},
		{I32, 0.5}, {U64, -1}, {I64, uint64(1 << 63)}, {F32, "1"}, {I32, nil},
		{U32, Scalar{F32, 1}}, {F32, 1e300}, {F32, -3.5e38}, {U32, true}, {I32, float32(2)},
	} {
		_, err := NewScalar(c.t, c.v)
		assert.Error(t, err, "NewScalar(%v, %v)", c.t, c.v)
	}
}
