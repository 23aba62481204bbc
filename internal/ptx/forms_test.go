package ptx

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFormsAgreeWithPtxas tries every combination of rounding, .ftz, .sat and type of
// sixteen opcodes: testdata/words lists those that ptxas 11.8 accepts for sm_80, and all
// others are refused.
func TestFormsAgreeWithPtxas(t *testing.T) {
	text, err := os.ReadFile("testdata/words")
	require.NoError(t, err)
	accepted := wordSet(string(text))
	m := &Module{Target: "sm_80", Version: "7.8"}
	for _, op := range strings.Fields("rcp sqrt rsqrt sin cos lg2 ex2 tanh div fma add sub mul mad abs neg") {
		for _, round := range strings.Split(",.rn,.rz,.rm,.rp,.approx,.full", ",") {
			for _, mods := range strings.Split(",.ftz,.sat,.ftz.sat", ",") {
				for _, typ := range strings.Fields("f32 f64 f16 f16x2 s32 u32 u64 s64 u16 b32") {
					word := op + round + mods + "." + typ
					parts := strings.Split(word, ".")
					f := newForm(word, opcode{name: parts[0], suffix: parts[1:]}, m)
					if op == "ex2" && mods == ".ftz" && round == ".approx" && strings.HasPrefix(typ, "f16") {
						continue // earlier compilers wrote it
					}
					assert.Equal(t, accepted[word], f.fault == "", "%s: %s", word, f.fault)
				}
			}
		}
	}
}
