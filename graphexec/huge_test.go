package graphexec_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/ir"
)

// TestLoopsWithHugeNumbersEnd runs loops whose counts of iterations are as large as an int holds. They end where they
// should, or with their context, or are refused: sums of these counts do not overflow, and nothing is as large as they.
func TestLoopsWithHugeNumbersEnd(t *testing.T) {
	const most = math.MaxInt
	for _, l := range []loop.Loop{
		{},
		{Lowering: loop.HostChecked},
		{Lowering: loop.HostChecked, CheckEvery: 7},
		{Lowering: loop.HostChecked, CheckEvery: most},
		{Lowering: loop.HostChecked, CheckEvery: most, Batch: most},
		{Lowering: loop.Unrolled},
		{Lowering: loop.Unrolled, Expected: most},
		{Lowering: loop.Unrolled, CheckEvery: most},
		{Lowering: loop.Unrolled, CheckEvery: most, Batch: most},
		{Lowering: loop.Unrolled, Batch: most, Overrun: loop.Undone},
		{Lowering: loop.Unrolled, Batch: most, Overrun: loop.Harmless},
		{Lowering: loop.WhileNode},
		{Lowering: loop.WhileNode, CheckEvery: 7},
		{Lowering: loop.WhileNode, CheckEvery: most},
		{Lowering: loop.WhileNode, CheckEvery: most - 1, Batch: 2},
		{CheckEvery: most, Expected: most},
		{CheckEvery: most, Expected: most, Overrun: loop.Harmless},
	} {
		for _, backend := range graphexec.Backends() {
			name := fmt.Sprintf("%v on %v, every %d, batch %d, expected %d, %v", l.Lowering, backend, l.CheckEvery, l.Batch, l.Expected, l.Overrun)
			t.Run(name, func(t *testing.T) {
				x := newSpinning(t, 1, 1)
				l.Body, l.Backend, l.MaxIterations = x.body, backend, most
				l.Until = loop.Until{Buffer: x.count.ID(), Is: ir.AtLeast, Value: 20}
				start := time.Now()
				loopExec, err := loop.Instantiate(x.dev, l, x.trace)
				if err != nil {
					t.Log(err)
					assert.Less(t, time.Since(start), 5*time.Second)
					x.close()
					return
				}
				ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
				defer cancel()
				r, err := loopExec.Run(ctx)
				t.Log(r.Iterations, r.Ending, err)
				assert.Less(t, time.Since(start), 5*time.Second)
				if err == nil {
					assert.Equal(t, loop.Met, r.Ending)
					assert.GreaterOrEqual(t, r.Iterations, 20)
					assert.Less(t, r.Iterations, 100)
				} else {
					assert.ErrorIs(t, err, context.DeadlineExceeded)
				}
				require.NoError(t, loopExec.Close())
				x.close()
			})
		}
	}
}
