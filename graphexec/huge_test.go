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
)

// TestLoopsWithHugeNumbersEnd runs loops whose counts of iterations are as large as an int holds. They end where they
// should, or with their context, or are refused: sums of these counts do not overflow, and nothing is as large as they.
func TestLoopsWithHugeNumbersEnd(t *testing.T) {
	const most = math.MaxInt
	for _, l := range []graphexec.Loop{
		{},
		{Lowering: graphexec.HostChecked},
		{Lowering: graphexec.HostChecked, CheckEvery: 7},
		{Lowering: graphexec.HostChecked, CheckEvery: most},
		{Lowering: graphexec.HostChecked, CheckEvery: most, Batch: most},
		{Lowering: graphexec.Unrolled},
		{Lowering: graphexec.Unrolled, Expected: most},
		{Lowering: graphexec.Unrolled, CheckEvery: most},
		{Lowering: graphexec.Unrolled, CheckEvery: most, Batch: most},
		{Lowering: graphexec.Unrolled, Batch: most, Overrun: graphexec.Undone},
		{Lowering: graphexec.Unrolled, Batch: most, Overrun: graphexec.Harmless},
		{Lowering: graphexec.WhileNode},
		{Lowering: graphexec.WhileNode, CheckEvery: 7},
		{Lowering: graphexec.WhileNode, CheckEvery: most},
		{Lowering: graphexec.WhileNode, CheckEvery: most - 1, Batch: 2},
		{CheckEvery: most, Expected: most},
		{CheckEvery: most, Expected: most, Overrun: graphexec.Harmless},
	} {
		for _, backend := range graphexec.Backends() {
			name := fmt.Sprintf("%v on %v, every %d, batch %d, expected %d, %v", l.Lowering, backend, l.CheckEvery, l.Batch, l.Expected, l.Overrun)
			t.Run(name, func(t *testing.T) {
				x := newSpinning(t, 1, 1)
				l.Body, l.Backend, l.MaxIterations = x.body, backend, most
				l.Until = graphexec.Until{Buffer: x.count.ID(), Is: graphexec.AtLeast, Value: 20}
				start := time.Now()
				loop, err := graphexec.InstantiateLoop(x.dev, l, x.trace)
				if err != nil {
					t.Log(err)
					assert.Less(t, time.Since(start), 5*time.Second)
					x.close()
					return
				}
				ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
				defer cancel()
				r, err := loop.Run(ctx)
				t.Log(r.Iterations, r.Ending, err)
				assert.Less(t, time.Since(start), 5*time.Second)
				if err == nil {
					assert.Equal(t, graphexec.Met, r.Ending)
					assert.GreaterOrEqual(t, r.Iterations, 20)
					assert.Less(t, r.Iterations, 100)
				} else {
					assert.ErrorIs(t, err, context.DeadlineExceeded)
				}
				require.NoError(t, loop.Close())
				x.close()
			})
		}
	}
}
