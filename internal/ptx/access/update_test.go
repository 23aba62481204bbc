package access

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// A parameter has an update if all accesses through it are the same one and no result is used.
func TestUpdates(t *testing.T) {
	for body, want := range map[string]*Update{
		"red.global.add.u32 [%rd1], 1;":                                                    {"add", ptx.U32},
		"atom.global.add.f32 %f1, [%rd1], 0f3F800000;":                                     {"add", ptx.F32},
		"atom.global.min.s64 _, [%rd1], %rd2;":                                             {"min", ptx.S64},
		"red.global.add.u32 [%rd1], 1; red.global.add.u32 [%rd1+4], 2;":                    {"add", ptx.U32},
		"red.global.add.u32 [%rd1], 1; red.global.max.u32 [%rd1+4], 2;":                    nil,
		"red.global.add.u32 [%rd1], 1; red.global.add.s32 [%rd1+4], 2;":                    nil,
		"red.global.add.u32 [%rd1], 1; ld.global.u32 %r1, [%rd1];":                         nil,
		"ld.global.u32 %r1, [%rd1]; red.global.add.u32 [%rd1], 1;":                         nil,
		"atom.global.add.u32 %r1, [%rd1], 1; st.global.u32 [%rd3], %r1;":                   nil,
		"atom.global.add.u32 %r1, [%rd1], 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; L: ret;": nil,
		"atom.global.exch.b32 %r1, [%rd1], 1;":                                             nil,
		"atom.global.cas.b32 %r1, [%rd1], 1, 2;":                                           nil,
	} {
		m, err := ptx.Parse("t.ptx", ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q) {\n"+
			".reg .pred %p<3>; .reg .f32 %f<3>; .reg .u32 %r<3>; .reg .u64 %rd<4>;\nld.param.u64 %rd1, [p]; ld.param.u64 %rd3, [q]; mov.u64 %rd2, 1;\n"+body+"\nret; }")
		require.NoError(t, err, body)
		assert.Equal(t, want, NewFootprint(m, m.Func("k")).Effects.Params[0].Update, body)
	}
}
