package access_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
)

const missingText = `.version 7.0
.target sm_50
.address_size 64
.visible .global .u32 total[4];
.visible .entry square(.param .u64 x, .param .u32 n)
{
	.reg .u64 %rd<2>;
	.reg .u32 %r<2>;
	ld.param.u64 %rd1, [x];
	ld.global.u32 %r1, [%rd1];
	st.global.u32 [%rd1], %r1;
	ret;
}
`

// TestMissingArguments leaves arguments out of all that the package exports.
func TestMissingArguments(t *testing.T) {
	module := func(t *testing.T) *ptx.Module {
		m, err := ptx.Parse("missing.ptx", missingText)
		require.NoError(t, err)
		return m
	}
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{
			"CheckDeclared": access.CheckDeclared, "ParseSignature": access.ParseSignature, "Infer": access.Infer,
			"NewFootprint": access.NewFootprint, "Signature": access.Signature,
		},
		Receivers: []func(*testing.T) any{
			func(t *testing.T) any { m := module(t); return access.NewFootprint(m, m.Func("square")) },
			func(*testing.T) any { return &access.Reason{} },
			func(*testing.T) any { return access.Declared{} },
			func(*testing.T) any { return access.Access(99) },
			func(*testing.T) any { return access.Mode(99) },
			func(*testing.T) any { return access.Span{} },
			func(*testing.T) any { return access.Region{} },
		},
		Pool: func(t *testing.T) []any {
			m := module(t)
			return []any{m, m.Func("square"), &bytes.Buffer{}, func(string) bool { return false }}
		},
		Typed: func(err error) bool { return errors.Is(err, absent.Err) },
		// Tools evaluate footprints for every launch: their arguments are not checked.
		Except: []string{"access.Footprint.Decided", "access.Footprint.Eval", "access.Footprint.EvalBoxes", "access.Footprint.Outside"},
	})
}
