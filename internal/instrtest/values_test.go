package instrtest

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func mustValues(t *testing.T, line string) values {
	t.Helper()
	v, err := parseValues(strings.Fields(line))
	require.NoError(t, err)
	return v
}

func TestValuesParse(t *testing.T) {
	for line, want := range map[string][]uint64{
		"s8 -1 0x7f":                 {0xff, 0x7f},
		"u16 2*7 9":                  {7, 7, 9},
		"b32 3..5":                   {3, 4, 5},
		"s64 -9223372036854775808":   {1 << 63},
		"f32 1 -0 0f7f800000 inf":    {0x3f800000, 0x80000000, 0x7f800000, 0x7f800000},
		"f64 0.1 0dbff0000000000000": {0x3fb999999999999a, 0xbff0000000000000},
		"f16 1 65504 65520 6e-8 0x3": {0x3c00, 0x7bff, 0x7c00, 1, 3},
		"bf16 1 -2 1e-40 3.39e38":    {0x3f80, 0xc000, 0x0001, 0x7f7f},
	} {
		assert.Equal(t, want, mustValues(t, line).elems, line)
	}
}

func TestValuesRefuse(t *testing.T) {
	for line, want := range map[string]string{
		"s32":          "needs a type and values",
		"s33 1":        `"s33" is no type of elements`,
		"u8 256":       "value 256",
		"s8 -129":      "value -129",
		"s32~2ulp 1":   "a tolerance needs a float type, not .s32",
		"f32~x 1":      "invalid syntax",
		"u32 5..1":     "is no range",
		"f32 one":      "value one",
		"u32 99999*1":  "out of range",
		"b64 0..90000": "is no range",
	} {
		_, err := parseValues(strings.Fields(line))
		assert.ErrorContains(t, err, want, line)
	}
}

func TestFloatsAgreeWithGo(t *testing.T) {
	f32, f64 := mustValues(t, "f32 0").format, mustValues(t, "f64 0").format
	for _, x := range []float64{0, 1, -1, 0.1, 1e-45, 1e-40, 3.4e38, 1e39, 5e-324, 1e-310, 1.7e308, math.Inf(-1), math.Pi} {
		assert.Equal(t, uint64(math.Float32bits(float32(x))), f32.encode(x), "%v", x)
		assert.Equal(t, math.Float64bits(x), f64.encode(x), "%v", x)
		assert.Equal(t, x, f64.decode(math.Float64bits(x)))
		assert.Equal(t, float64(float32(x)), f32.decode(uint64(math.Float32bits(float32(x)))))
	}
}

// TestValuesAccept covers what a tolerance forgives and what it does not.
func TestValuesAccept(t *testing.T) {
	for _, c := range []struct {
		want string
		got  uint64
		ok   bool
	}{
		{"f32 nan", 0xffc00001, true},
		{"f32 nan", 0x7f800000, false},
		{"f32 inf", 0x7fc00000, false},
		{"f32 0", 0x80000000, false},
		{"f32~2ulp 1", 0x3f800002, true},
		{"f32~2ulp 1", 0x3f800003, false},
		{"f32~2ulp 0", 0x80000001, true},
		{"f64~1e-6 1", math.Float64bits(1 + 1e-7), true},
		{"f64~1e-6 1", math.Float64bits(1 + 1e-5), false},
		{"f64~abs0.5 0", math.Float64bits(-0.5), true},
		{"f64~abs0.5 0", math.Float64bits(-0.6), false},
		{"s32 1", 2, false},
	} {
		v := mustValues(t, c.want)
		assert.Equal(t, c.ok, v.accepts(c.got, v.elems[0]), "%s against %#x", c.want, c.got)
	}
}

func TestDiffNamesElementAndBits(t *testing.T) {
	v := mustValues(t, "s16 1 -2 3")
	assert.Empty(t, v.diff([]uint64{1, 0xfffe, 3}))
	assert.Equal(t, "element 1: got 5 (0x0005), want -2 (0xfffe)\n", v.diff([]uint64{1, 5, 3}))
	f := mustValues(t, "f32 1")
	assert.Equal(t, "element 0: got 1.0000001 (0x3f800001), want 1 (0x3f800000), 1 ulp apart\n", f.diff([]uint64{0x3f800001}))
	assert.Contains(t, mustValues(t, "u8 20*1").diff(make([]uint64, 20)), "and 12 more\n")
}

func TestInstructionHeads(t *testing.T) {
	in, err := parseInstruction("// a rule\n//! block 4 2\n//! shared 8\n//! in s32 1 2\n//! out f32~1ulp 1\n.version 7.8\n//! grid 9")
	require.NoError(t, err)
	assert.Equal(t, uint64(8), in.block.Count())
	assert.Equal(t, uint64(1), in.grid.Count())
	assert.Equal(t, uint32(8), in.shared)
	assert.Len(t, in.in, 1)
	assert.Len(t, in.out, 1)
	for head, want := range map[string]string{
		"//! out s32 1":                         "which rule the file shows",
		"// a rule\n":                           "expects nothing",
		"// a rule\n//! out s32 1\n//! error x": "both an out and an error",
		"// a rule\n//! block":                  "line 2: block: needs one to three numbers",
		"// a rule\n//! inn s32 1":              "line 2: inn: directives are",
		"// a rule\n//!":                        "line 2: the directive is empty",
	} {
		_, err := parseInstruction(head)
		assert.ErrorContains(t, err, want, head)
	}
}
