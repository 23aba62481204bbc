package ranks_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench/scale/programs"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/internal/transport"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// compiled runs a function with the plan of a program on each rank of a machine of 2 x 2 devices.
func compiled(t *testing.T, build func(rank int, tr *tracer.Tracer) []tracer.Buffer, f func(r *ranks.Rank, p *ranks.Plan, bs []tracer.Buffer) error) []error {
	m, err := machine.Uniform(2, 2, "h200")
	require.NoError(t, err)
	return onMachine(t, m, func(r *ranks.Rank) error {
		tr := r.Record("step")
		bs := build(r.Number(), tr)
		trace, err := tr.Finish()
		if err != nil {
			return err
		}
		p, err := r.Compile(context.Background(), trace, ranks.Options{})
		if err != nil {
			return err
		}
		defer p.Close()
		for b, buf := range trace.Graph.Buffers { // reads of bytes that were never written are errors
			if buf.Role != ir.Temporary {
				if err := p.Write(ir.Range{Buffer: ir.BufferID(b), Hi: buf.Size()}, make([]byte, buf.Size())); err != nil {
					return err
				}
			}
		}
		return f(r, p, bs)
	})
}

// Ranks that record different programs get the first operation that differs.
func TestRanksMustRecordTheSame(t *testing.T) {
	errs := compiled(t, func(rank int, tr *tracer.Tracer) []tracer.Buffer {
		k := tr.Module("kernels.ptx", kernels).Kernel("axpy")
		x := tr.Alloc("x", ir.I32, 1024, ir.InOut)
		tr.Launch(k, tracer.Linear(16, 64), x, x, 1, 1024)
		tr.Launch(k, tracer.Linear(16, 64), x, x, 2+rank, 1024)
		return nil
	}, func(*ranks.Rank, *ranks.Plan, []tracer.Buffer) error { return nil })
	for _, err := range errs {
		agree := &transport.AgreeError{}
		require.ErrorAs(t, err, &agree)
		assert.ErrorContains(t, err, "%1 = launch kernels.axpy")
	}
}

// A kernel that fails on one device ends the run on all ranks: the others get an error that names its rank.
func TestAFaultEndsTheRunEverywhere(t *testing.T) {
	start := time.Now()
	errs := compiled(t, func(_ int, tr *tracer.Tracer) []tracer.Buffer {
		m := tr.Module("kernels.ptx", kernels)
		x, y := tr.Alloc("x", ir.I32, 1024, ir.InOut), tr.Alloc("y", ir.I32, 1024, ir.InOut)
		perm := tr.Alloc("perm", ir.I32, 1024, ir.Constant)
		tr.Launch(m.Kernel("gather"), tracer.Linear(16, 64), x, perm, y, 1024)
		tr.Launch(m.Kernel("reverse"), tracer.Linear(16, 64), y, x, 1024)
		return []tracer.Buffer{perm}
	}, func(r *ranks.Rank, p *ranks.Plan, bs []tracer.Buffer) error {
		wild := make([]byte, 4096)
		for i := 4 * 700; i < 4*704; i++ {
			wild[i] = 0x7f // elements that devices of rank 1 use
		}
		if err := p.Write(bs[0].Range(), wild); err != nil {
			return err
		}
		err := p.Run(context.Background(), 10)
		assert.ErrorIs(t, p.Run(context.Background(), 1), err, "the plan stays failed")
		return err
	})
	assert.ErrorContains(t, errs[1], "rank 1, device 0")
	assert.ErrorContains(t, errs[1], "gather")
	lost := &transport.LostError{}
	require.ErrorAs(t, errs[0], &lost)
	assert.Equal(t, 1, lost.Rank)
	assert.Less(t, time.Since(start), 10*time.Second)
}

// A context that is done ends the run on all ranks.
func TestCancellation(t *testing.T) {
	errs := compiled(t, func(_ int, tr *tracer.Tracer) []tracer.Buffer {
		return wave(64, 1).build(tr)
	}, func(r *ranks.Rank, p *ranks.Plan, bs []tracer.Buffer) error {
		ctx, cancel := context.WithCancel(context.Background())
		if r.Number() == 0 {
			time.AfterFunc(50*time.Millisecond, cancel)
		}
		defer cancel()
		return p.Run(ctx, 1<<30)
	})
	assert.ErrorIs(t, errs[0], context.Canceled)
	assert.ErrorContains(t, errs[1], "rank 0 is lost")
}

// A run until a condition ends at the same step on all ranks and on one device.
func TestRunUntil(t *testing.T) {
	prog, err := programs.Parse("jacobi:64x4")
	require.NoError(t, err)
	var steps []int
	for _, size := range [][2]int{{1, 1}, {1, 4}, {4, 1}, {2, 2}} {
		m, err := machine.Uniform(size[0], size[1], "h200")
		require.NoError(t, err)
		found := make([]ranks.Result, size[0])
		for _, err := range onMachine(t, m, func(r *ranks.Rank) error {
			tr := r.Record("jacobi")
			in := prog.Record(tr)
			trace, err := tr.Finish()
			if err != nil {
				return err
			}
			p, err := r.Compile(context.Background(), trace, ranks.Options{})
			if err != nil {
				return err
			}
			defer p.Close()
			if err := in.Start(func(b tracer.Buffer, data []byte) error { return p.Write(b.Range(), data) }); err != nil {
				return err
			}
			until := ir.Condition{Scalar: in.Scalar.Range(), Is: ir.Below, Value: 1e-2}
			found[r.Number()], err = p.RunUntil(context.Background(), until, 3, 3000)
			return err
		}) {
			require.NoError(t, err)
		}
		for _, f := range found {
			assert.Equal(t, ranks.Met, f.Ending)
			steps = append(steps, f.Steps)
		}
	}
	for _, n := range steps {
		assert.Equal(t, steps[0], n)
	}
	assert.Greater(t, steps[0], 3)
	assert.Less(t, steps[0], 3000)
}

// Contents can be written between runs, and each rank may pass only what its devices access.
func TestWriteBetweenRuns(t *testing.T) {
	p := wave(64, 3)
	want := p.alone(t)
	for _, err := range compiled(t, func(_ int, tr *tracer.Tracer) []tracer.Buffer { return p.build(tr) }, func(r *ranks.Rank, plan *ranks.Plan, bs []tracer.Buffer) error {
		ctx := context.Background()
		if err := plan.Run(ctx, 2); err != nil { // of zeros
			return err
		}
		for i, b := range bs {
			lo, hi := plan.Part(b.ID())
			to := b.Range()
			to.Lo, to.Hi = lo, hi
			if err := plan.Write(to, p.contents(i)[lo:hi]); err != nil {
				return err
			}
		}
		if err := plan.Run(ctx, 3); err != nil {
			return err
		}
		for i, b := range bs {
			got := make([]byte, b.Bytes())
			if err := plan.Read(ctx, got, b.Range()); err != nil {
				return err
			}
			lo, hi := int64(4*65), b.Bytes()-4*65 // the corners are in no memory of a device
			assert.Equal(t, string(want[i][lo:hi]), string(got[lo:hi]))
		}
		return nil
	}) {
		require.NoError(t, err)
	}
}

func TestMisuse(t *testing.T) {
	for _, err := range compiled(t, func(_ int, tr *tracer.Tracer) []tracer.Buffer { return wave(64, 1).build(tr) }, func(r *ranks.Rank, p *ranks.Plan, bs []tracer.Buffer) error {
		ctx := context.Background()
		u := bs[0].Range()
		assert.ErrorContains(t, p.Write(u, make([]byte, 3)), "3 bytes were passed for bytes 0 to 16384 of u, which has 16384")
		assert.ErrorContains(t, p.Read(ctx, nil, u), "0 bytes are to hold bytes 0 to 16384 of u")
		assert.ErrorContains(t, p.Read(ctx, nil, ir.Range{Buffer: 9}), "the plan has no buffer 9: it has 2")
		assert.ErrorContains(t, p.Write(ir.Range{Buffer: -1}, nil), "the plan has no buffer -1")
		assert.ErrorContains(t, tracer.Write(bs[0], make([]int32, 4096)), "use cluster.Write")
		assert.ErrorContains(t, tracer.Read(make([]int32, 4096), bs[0]), "use cluster.")
		assert.ErrorContains(t, p.Run(ctx, -1), "-1 steps were requested")
		_, err := p.RunUntil(ctx, ir.Condition{Scalar: u, Is: ir.Below}, 1, 1)
		assert.ErrorContains(t, err, "the condition cannot be evaluated")
		_, err = p.RunUntil(ctx, ir.Condition{Scalar: ir.Range{Hi: 4}, Is: ir.Below}, 0, 1)
		assert.ErrorContains(t, err, "a check every 0 steps")
		assert.NoError(t, p.Close())
		assert.NoError(t, p.Close())
		assert.ErrorIs(t, p.Run(ctx, 1), ranks.ErrClosed)
		assert.ErrorIs(t, p.Write(u, make([]byte, 16384)), ranks.ErrClosed)
		return nil
	}) {
		require.NoError(t, err)
	}
}
