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
		kind OperandKind
		imm  int64
	}{
		{"42", OpInt, 42},
		{"42U", OpInt, 42},
		{"017", OpInt, 15},
		{"0b101", OpInt, 5},
		{"0xffffffffffffffff", OpInt, -1},
		{"0f3F800000", OpFloat32, 0x3F800000},
		{"0dBFF0000000000000", OpFloat64, float(-1)},
		{"1.5", OpFloat64, float(1.5)},
		{"0x1e", OpInt, 30}, // no exponent
	} {
		op, ok := parseNumber(c.text)
		require.True(t, ok, c.text)
		require.Equal(t, c.kind, op.Kind, c.text)
		require.Equal(t, c.imm, op.Imm, c.text)
	}
	for _, text := range []string{"0f3F8", "0dx", "08", "0x", "1_000", "18446744073709551616", "12ab", "1.5.2"} {
		_, ok := parseNumber(text)
		require.False(t, ok, text)
	}
}
