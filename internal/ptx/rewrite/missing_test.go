package rewrite_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/rewrite"
)

const missingText = `.version 7.0
.target sm_50
.address_size 64
.visible .entry square(.param .u64 x, .param .u32 n)
{
	.reg .u64 %rd<2>;
	ld.param.u64 %rd1, [x];
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
	options := rewrite.BatchOptions{Source: rewrite.FromTable, Grid: [3]uint32{1, 1, 1}, Instances: 2}
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{"Range": rewrite.Range, "Tile": rewrite.Tile, "Batch": rewrite.Batch, "Fuse": rewrite.Fuse},
		Receivers: []func(*testing.T) any{
			func(*testing.T) any { return &rewrite.Result{} },
			func(*testing.T) any { return &rewrite.Refusal{} },
			func(*testing.T) any { return &rewrite.Table{} },
			func(t *testing.T) any {
				r, err := rewrite.Batch(module(t), "square", options)
				require.NoError(t, err)
				return r.Table
			},
		},
		Pool:  func(t *testing.T) []any { return []any{module(t)} },
		Typed: func(err error) bool { return errors.Is(err, absent.Err) },
	})
}
