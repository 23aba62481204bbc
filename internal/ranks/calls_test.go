package ranks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/internal/transport"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// Ranks that make different calls, or with different arguments, get the same error at once, which names the difference. The plan
// can then only be closed.
func TestRanksMustMakeTheSameCalls(t *testing.T) {
	ctx := context.Background()
	until := func(every, most int, value float64) func(p *ranks.Plan) error {
		return func(p *ranks.Plan) error {
			_, err := p.RunUntil(ctx, ir.Condition{Scalar: ir.Range{Hi: 4}, Is: ir.Below, Value: value}, every, most)
			return err
		}
	}
	steps := func(n int) func(p *ranks.Plan) error {
		return func(p *ranks.Plan) error { return p.Run(ctx, n) }
	}
	read := func(hi int64) func(p *ranks.Plan) error {
		return func(p *ranks.Plan) error { return p.Read(ctx, make([]byte, hi), ir.Range{Hi: hi}) }
	}
	for _, one := range []struct {
		calls [2]func(p *ranks.Plan) error
		want  string
	}{
		{[2]func(*ranks.Plan) error{steps(4), steps(5)}, "Run of 4 steps on rank 0, Run of 5 steps on rank 1"},
		{[2]func(*ranks.Plan) error{steps(4), steps(-1)}, "Run of -1 steps on rank 1"},
		{[2]func(*ranks.Plan) error{until(2, 10, 1), until(3, 10, 1)}, "RunUntil of at most 10 steps with a check every 3 steps of u[0:4] below 1 on rank 1"},
		{[2]func(*ranks.Plan) error{until(2, 10, 1), until(2, 9, 1)}, "RunUntil of at most 9 steps with a check every 2 steps of u[0:4] below 1 on rank 1"},
		{[2]func(*ranks.Plan) error{until(2, 10, 1), until(2, 10, 2)}, "of u[0:4] below 2 on rank 1"},
		{[2]func(*ranks.Plan) error{steps(4), until(4, 4, 1)}, "Run of 4 steps on rank 0, RunUntil of at most 4"},
		{[2]func(*ranks.Plan) error{steps(4), read(8000)}, "Run of 4 steps on rank 0, Read of u[0:8000] on rank 1"},
		{[2]func(*ranks.Plan) error{read(8000), read(12000)}, "Read of u[0:8000] on rank 0, Read of u[0:12000] on rank 1"},
	} {
		start := time.Now()
		for _, err := range compiled(t, func(_ int, tr *tracer.Tracer) []tracer.Buffer { return wave(64, 1).build(tr) }, func(r *ranks.Rank, p *ranks.Plan, _ []tracer.Buffer) error {
			if err := p.Run(ctx, 3); err != nil {
				return err
			}
			err := one.calls[r.Number()](p)
			assert.ErrorIs(t, p.Run(ctx, 1), err, "the plan stays failed")
			return err
		}) {
			assert.ErrorAs(t, err, new(*transport.CallError))
			assert.ErrorContains(t, err, one.want)
		}
		assert.Less(t, time.Since(start), 10*time.Second)
	}
}

// Ranks that compile with different options get an error that names them.
func TestRanksMustCompileWithTheSameOptions(t *testing.T) {
	m, err := machine.Uniform(2, 1, "h200")
	require.NoError(t, err)
	for _, err := range onMachine(t, m, func(r *ranks.Rank) error {
		tr := r.Record("wave")
		wave(64, 1).build(tr)
		trace, err := tr.Finish()
		if err != nil {
			return err
		}
		_, err = r.Compile(context.Background(), trace, ranks.Options{Streams: r.Number() == 1})
		return err
	}) {
		assert.ErrorContains(t, err, `"options {Overlap:0 Streams:false Tiles:false}" on rank 0, "options {Overlap:0 Streams:true Tiles:false}" on rank 1`)
	}
}
