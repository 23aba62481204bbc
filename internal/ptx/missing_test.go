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
			"FragmentRegisters": ptx.FragmentRegisters, "MatrixShape": ptx.MatrixShape,
			"Print": ptx.Print, "Link": ptx.Link, "NamesMemory": ptx.NamesMemory, "LinkNil": func(provided func(string) bool, m *ptx.Module) (*ptx.Module, error) {
				return ptx.Link("a", provided, m)
			},
			"Newer": ptx.Newer, "Parse": ptx.Parse, "ParseShared": ptx.ParseShared, "ParseSpace": ptx.ParseSpace, "ParseType": ptx.ParseType,
		},
		Receivers: []func(*testing.T) any{
			func(t *testing.T) any { return module(t) },
			func(*testing.T) any { return &ptx.Module{} },
			func(t *testing.T) any { return module(t).Func("square") },
			func(*testing.T) any { return &ptx.Func{} },
			func(*testing.T) any { return &ptx.Inst{} },
			func(*testing.T) any { return &ptx.Var{} },
			func(*testing.T) any { return &ptx.Error{} },
			func(*testing.T) any { return ptx.Space(99) },
			func(*testing.T) any { return ptx.Type(99) },
		},
		Pool: func(t *testing.T) []any {
			m := module(t)
			return []any{m, m.Func("square"), &bytes.Buffer{}, func(string) bool { return false }}
		},
		Typed:    func(err error) bool { return errors.Is(err, absent.Err) },
		Optional: []string{"Link 1", "LinkNil 0", "ptx.Module.Undefined 0"},
	})
}
