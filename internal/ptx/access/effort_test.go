package access

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// mirrored is a kernel whose index is reflected at both borders n times, with
// selections, as in the unrolled lifting steps of a wavelet transform.
func mirrored(n int) string {
	var b strings.Builder
	b.WriteString(testHead + `.visible .entry k(.param .u64 o, .param .u64 in, .param .u32 n, .param .u32 w)
{
	.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
	ld.param.u64 %rd1, [o]; ld.param.u64 %rd2, [in]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [w];
	cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2;
	mov.u32 %r3, %tid.x;
	shl.b32 %r4, %r1, 1; add.s32 %r4, %r4, -2;
`)
	for k := range n {
		fmt.Fprintf(&b, `	add.s32 %%r3, %%r3, %d; neg.s32 %%r5, %%r3; setp.lt.s32 %%p1, %%r3, 0; selp.b32 %%r3, %%r5, %%r3, %%p1;
	setp.lt.s32 %%p1, %%r3, %%r1; sub.s32 %%r6, %%r4, %%r3; selp.b32 %%r3, %%r3, %%r6, %%p1;
	max.s32 %%r3, %%r3, 0; min.s32 %%r3, %%r3, %%r2;
	mul.wide.s32 %%rd5, %%r3, 4; add.s64 %%rd6, %%rd4, %%rd5; ld.global.u32 %%r7, [%%rd6]; st.global.u32 [%%rd3], %%r7;
`, k%5-2)
	}
	b.WriteString("	ret;\n}\n")
	return b.String()
}

// effortOf returns the number of values that the analysis of f builds.
func effortOf(m *ptx.Module, f *ptx.Func) int {
	_, r := newFootprint(m, f)
	if r.builder == nil {
		return 0
	}
	return r.builder.effort
}

// Nested selections give 2^n paths; each value must be built a bounded number of times.
func TestEffortIsLinearInSelections(t *testing.T) {
	effort := func(n int) int {
		m, err := ptx.Parse("k.ptx", mirrored(n))
		require.NoError(t, err)
		return effortOf(m, m.Func("k"))
	}
	assert.Less(t, effort(160), 20*effort(10))
}

// A narrowing that the bound on effort would take away must not be needed by what people write. The most is a twentieth of
// the bound: products of matrices that unroll 24 loads in two places.
func TestEffortOfKernelsIsSmall(t *testing.T) {
	for _, pattern := range []string{"../../sim/testdata/instr/*.ptx", "../../sim/testdata/kernels/*.ptx", "../../kernels/*.ptx"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			m, err := ptx.Parse(file, string(src))
			if err != nil {
				continue // a file that shows a refusal
			}
			for _, f := range m.Funcs {
				if f.Entry {
					assert.Less(t, effortOf(m, f), maxRefined/16, "%s: %s", file, f.Name)
				}
			}
		}
	}
}
