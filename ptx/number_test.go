package ptx

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseNumber(t *testing.T) {
	float := func(x float64) int64 { return int64(math.Float64bits(x)) }
	for _, c := range []struct {
		text string
		neg  bool
		kind OperandKind
		imm  int64
	}{
		{"42", false, OpInt, 42},
		{"42", true, OpInt, -42},
		{"42U", false, OpInt, 42},
		{"017", false, OpInt, 15},
		{"0b101", false, OpInt, 5},
		{"0xffffffffffffffff", false, OpInt, -1},
		{"9223372036854775808", true, OpInt, math.MinInt64},
		{"0f3F800000", false, OpFloat32, 0x3F800000},
		{"0f3F800000", true, OpFloat32, 0xBF800000},
		{"0dBFF0000000000000", false, OpFloat64, float(-1)},
		{"1.5", false, OpFloat64, float(1.5)},
		{"1.5e-3", true, OpFloat64, float(-1.5e-3)},
		{"0x1e", false, OpInt, 30}, // no exponent
	} {
		op, ok := parseNumber(c.text, c.neg)
		require.True(t, ok, c.text)
		require.Equal(t, c.kind, op.Kind, c.text)
		require.Equal(t, c.imm, op.Imm, c.text)
	}
	for _, text := range []string{"0f3F8", "0dx", "08", "0x", "1_000", "18446744073709551616", "12ab", "1.5.2"} {
		_, ok := parseNumber(text, false)
		require.False(t, ok, text)
	}
}
