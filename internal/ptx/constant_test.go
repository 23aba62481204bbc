package ptx

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSignOfConstants states the values that ptxas 11.8 gives. An operator is unsigned if an operand is, ~ always is, and
// a comparison is signed.
func TestSignOfConstants(t *testing.T) {
	for expression, want := range map[string]uint64{
		"(0x8000000000000000U | 0) >> 63":                   1,
		"(0x8000000000000000U | -1) >> 63":                  1,
		"(0x8000000000000000U & 0xF000000000000000U) >> 63": 1,
		"(0x8000000000000000U ^ 1U) / 2":                    1 << 62,
		"(0x8000000000000000U + 0) >> 63":                   1,
		"(-1 | 0) >> 63":                                    1<<64 - 1,
		"(-1 & -2) >> 63":                                   1<<64 - 1,
		"(-1 ^ 0) / 2":                                      0,
		"(~0) >> 63":                                        1,
		"(~0U) >> 63":                                       1,
		"(0x8000000000000000U | 0U) > 1U":                   1,
		"-1 < 1U":                                           0,
		"-(1U > 0U) >> 63":                                  1<<64 - 1,
	} {
		m, err := Parse("c.ptx", linkHead+".global .align 8 .u64 a = ("+expression+");\n")
		require.NoError(t, err, expression)
		require.Equal(t, want, binary.LittleEndian.Uint64(m.Vars[0].Init), expression)
	}
}
