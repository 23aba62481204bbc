package ranks_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// onSix runs a function with the plan of a program on each rank of a machine of 3 x 2 devices. Nothing is written before.
func onSix(t *testing.T, p *program, f func(r *ranks.Rank, plan *ranks.Plan, bs []tracer.Buffer) error) {
	t.Helper()
	m, err := machine.Uniform(3, 2, "h200")
	require.NoError(t, err)
	for _, err := range onMachine(t, m, func(r *ranks.Rank) error {
		tr := r.Record("step")
		bs := p.build(tr)
		trace, err := tr.Finish()
		if err != nil {
			return err
		}
		plan, err := r.Compile(context.Background(), trace, ranks.Options{})
		if err != nil {
			return err
		}
		defer plan.Close()
		return f(r, plan, bs)
	}) {
		require.NoError(t, err)
	}
}

// read returns a range of a buffer.
func read(t *testing.T, plan *ranks.Plan, from ir.Range) []byte {
	data := bytes.Repeat([]byte{0xee}, int(from.Hi-from.Lo))
	assert.NoError(t, plan.Read(context.Background(), data, from))
	return data
}

// Before the first step, Read returns what any rank has written, on all ranks, and zero for the rest.
func TestReadBeforeTheFirstStep(t *testing.T) {
	p := wave(64, 1)
	onSix(t, p, func(r *ranks.Rank, plan *ranks.Plan, bs []tracer.Buffer) error {
		u := bs[0].Range()
		assert.True(t, bytes.Equal(make([]byte, u.Hi), read(t, plan, u)), "nothing was written")
		want := make([]byte, u.Hi)
		for rank := range int64(3) { // overlapping parts, with gaps
			lo, hi := 4000*rank+100, 4000*rank+100+[]int64{1000, 5000, 3000}[rank]
			copy(want[lo:hi], p.contents(0)[lo:hi])
			if int(rank) == r.Number() {
				require.NoError(t, plan.Write(ir.Range{Buffer: u.Buffer, Lo: lo, Hi: hi}, p.contents(0)[lo:hi]))
			}
		}
		assert.True(t, bytes.Equal(want, read(t, plan, u)))
		assert.True(t, bytes.Equal(want[300:9000], read(t, plan, ir.Range{Buffer: u.Buffer, Lo: 300, Hi: 9000})))
		require.NoError(t, plan.Write(u, p.contents(0)))
		assert.True(t, bytes.Equal(p.contents(0), read(t, plan, u)), "all ranks have written the same")
		return nil
	})
}
