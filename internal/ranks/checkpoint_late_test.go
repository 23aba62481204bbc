package ranks_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// Bytes that no device accesses are read from the rank that has written them, also after steps, and after a run was resumed
// from a checkpoint.
func TestBytesThatNoDeviceAccesses(t *testing.T) {
	p := wave(64, 1)
	dir := t.TempDir()
	ctx := context.Background()
	start := func(plan *ranks.Plan, bs []tracer.Buffer) {
		for i, b := range bs {
			require.NoError(t, plan.Write(b.Range(), p.contents(i)))
		}
		require.NoError(t, plan.Checkpoint(dir, 2))
	}
	corner := ir.Range{Hi: 4}
	late := []byte{1, 2, 3, 4}
	var want []byte
	onSix(t, p, func(r *ranks.Rank, plan *ranks.Plan, bs []tracer.Buffer) error {
		start(plan, bs)
		require.NoError(t, plan.Run(ctx, 1))
		assert.Equal(t, p.contents(0)[:4], read(t, plan, corner))
		if r.Number() < 2 {
			require.NoError(t, plan.Write(corner, []byte{9, 9, 9, 9}))
		}
		require.NoError(t, plan.Run(ctx, 1))
		if r.Number() == 2 { // the others need not write what their devices do not access
			require.NoError(t, plan.Write(corner, late))
		}
		require.NoError(t, plan.Run(ctx, 2))
		all := read(t, plan, bs[0].Range())
		if r.Number() == 0 {
			want = all
		}
		return nil
	})
	assert.Equal(t, late, want[:4])
	onSix(t, p, func(r *ranks.Rank, plan *ranks.Plan, bs []tracer.Buffer) error {
		start(plan, bs)
		n, err := plan.Resume(ctx, dir)
		assert.Equal(t, 4, n)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, read(t, plan, bs[0].Range())))
		require.NoError(t, plan.Run(ctx, 2)) // whose checkpoint has the bytes too
		return nil
	})
	onSix(t, p, func(r *ranks.Rank, plan *ranks.Plan, bs []tracer.Buffer) error {
		start(plan, bs)
		n, err := plan.Resume(ctx, dir)
		assert.Equal(t, 6, n)
		require.NoError(t, err)
		assert.Equal(t, late, read(t, plan, corner))
		return nil
	})
}
