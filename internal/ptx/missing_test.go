package ptx_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
	"github.com/reprise-gpu/reprise/internal/ptx"
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
			"CheckDeclared": ptx.CheckDeclared, "FragmentRegisters": ptx.FragmentRegisters, "MatrixShape": ptx.MatrixShape,
			"Print": ptx.Print, "ParseSignature": ptx.ParseSignature, "Infer": ptx.Infer, "NewFootprint": ptx.NewFootprint,
			"Link": ptx.Link, "LinkNil": func(provided func(string) bool, m *ptx.Module) (*ptx.Module, error) {
				return ptx.Link("a", provided, m)
			},
			"Parse": ptx.Parse, "Signature": ptx.Signature, "ParseSpace": ptx.ParseSpace, "ParseType": ptx.ParseType,
		},
		Receivers: []func(*testing.T) any{
			func(t *testing.T) any { return module(t) },
			func(*testing.T) any { return &ptx.Module{} },
			func(t *testing.T) any { return module(t).Func("square") },
			func(*testing.T) any { return &ptx.Func{} },
			func(t *testing.T) any { m := module(t); return ptx.NewFootprint(m, m.Func("square")) },
			func(*testing.T) any { return &ptx.Inst{} },
			func(*testing.T) any { return &ptx.Var{} },
			func(*testing.T) any { return &ptx.Error{} },
			func(*testing.T) any { return &ptx.Reason{} },
			func(*testing.T) any { return ptx.Declared{} },
			func(*testing.T) any { return ptx.Access(99) },
			func(*testing.T) any { return ptx.Mode(99) },
			func(*testing.T) any { return ptx.Space(99) },
			func(*testing.T) any { return ptx.Type(99) },
			func(*testing.T) any { return ptx.Span{} },
		},
		Pool: func(t *testing.T) []any {
			m := module(t)
			return []any{m, m.Func("square"), &bytes.Buffer{}, func(string) bool { return false }}
		},
		Typed: func(err error) bool { return errors.Is(err, absent.Err) },
		// Tools evaluate footprints for every launch: what they pass is not looked at.
		Except:   []string{"ptx.Footprint.Decided", "ptx.Footprint.Eval", "ptx.Footprint.Outside"},
		Optional: []string{"Link 1", "LinkNil 0", "ptx.Module.Undefined 0"},
	})
}
