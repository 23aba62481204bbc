package ranks_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// A run that ends in the middle and is resumed from its last checkpoint gives the bytes of an uninterrupted one.
func TestResume(t *testing.T) {
	p := wave(64, 9)
	want := p.alone(t)
	dir := t.TempDir()
	build := func(_ int, tr *tracer.Tracer) []tracer.Buffer { return p.build(tr) }
	start := func(plan *ranks.Plan, bs []tracer.Buffer) error {
		for i, b := range bs {
			if err := plan.Write(b.Range(), p.contents(i)); err != nil {
				return err
			}
		}
		return plan.Checkpoint(dir, 2)
	}
	ctx := context.Background()
	for _, err := range compiled(t, build, func(r *ranks.Rank, plan *ranks.Plan, bs []tracer.Buffer) error {
		if err := start(plan, bs); err != nil {
			return err
		}
		n, err := plan.Resume(ctx, dir)
		assert.Zero(t, n, "there is no checkpoint yet")
		if err != nil {
			return err
		}
		return plan.Run(ctx, 7)
	}) {
		require.NoError(t, err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	assert.ElementsMatch(t, []string{"rank0.step4", "rank0.step6", "rank1.step4", "rank1.step6"}, bases(files))
	require.NoError(t, os.Remove(filepath.Join(dir, "rank1.step6"))) // rank 1 was lost before it wrote its last one
	for _, err := range compiled(t, build, func(r *ranks.Rank, plan *ranks.Plan, bs []tracer.Buffer) error {
		if err := start(plan, bs); err != nil {
			return err
		}
		n, err := plan.Resume(ctx, dir)
		if err != nil {
			return err
		}
		assert.Equal(t, 4, n)
		if err := plan.Run(ctx, p.steps-n); err != nil {
			return err
		}
		for i, b := range bs {
			got := make([]byte, b.Bytes())
			if err := plan.Read(ctx, got, b.Range()); err != nil {
				return err
			}
			assert.True(t, string(want[i]) == string(got), "buffer %d", i)
		}
		return nil
	}) {
		require.NoError(t, err)
	}
}

func bases(files []string) (list []string) {
	for _, f := range files {
		list = append(list, filepath.Base(f))
	}
	return list
}

// A checkpoint that is damaged, or of another program, ends the run with a reason.
func TestResumeRefuses(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	resume := func(n int) []error {
		p := wave(n, 1)
		return compiled(t, func(_ int, tr *tracer.Tracer) []tracer.Buffer { return p.build(tr) }, func(r *ranks.Rank, plan *ranks.Plan, bs []tracer.Buffer) error {
			_, err := plan.Resume(ctx, dir)
			return err
		})
	}
	p := wave(64, 1)
	for _, err := range compiled(t, func(_ int, tr *tracer.Tracer) []tracer.Buffer { return p.build(tr) }, func(r *ranks.Rank, plan *ranks.Plan, bs []tracer.Buffer) error {
		if err := plan.Checkpoint(dir, 1); err != nil {
			return err
		}
		return plan.Run(ctx, 1)
	}) {
		require.NoError(t, err)
	}
	for _, err := range resume(64) {
		assert.NoError(t, err)
	}
	for _, err := range resume(72) {
		assert.ErrorContains(t, err, "is of another program, or of another machine")
	}
	name := filepath.Join(dir, "rank0.step1")
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	for _, at := range []int{0, 50, len(data) / 2, len(data) - 1} {
		broken := append([]byte(nil), data...)
		broken[at] ^= 1
		require.NoError(t, os.WriteFile(name, broken, 0o666))
		assert.Error(t, resume(64)[0], "byte %d", at)
		require.NoError(t, os.WriteFile(name, data[:at], 0o666))
		assert.Error(t, resume(64)[0], "cut off at %d", at)
	}
}

// checkpointed runs steps of a program with a checkpoint after each.
func checkpointed(t *testing.T, dir string, steps int, build func(rank int, tr *tracer.Tracer) []tracer.Buffer) {
	for _, err := range compiled(t, build, func(r *ranks.Rank, plan *ranks.Plan, bs []tracer.Buffer) error {
		if err := plan.Checkpoint(dir, 1); err != nil {
			return err
		}
		return plan.Run(context.Background(), steps)
	}) {
		require.NoError(t, err)
	}
}

// A checkpoint of a program whose kernel has another text is refused.
func TestResumeRefusesOtherKernels(t *testing.T) {
	dir := t.TempDir()
	build := func(text string) func(int, *tracer.Tracer) []tracer.Buffer {
		return func(_ int, tr *tracer.Tracer) []tracer.Buffer {
			x := tr.Alloc("x", ir.I32, 1000, ir.InOut)
			tr.Launch(tr.Module("kernels.ptx", text).Kernel("axpy"), tracer.Linear(16, 64), x, x, 1, 1000)
			return []tracer.Buffer{x}
		}
	}
	checkpointed(t, dir, 1, build(kernels))
	other := strings.Replace(kernels, "mad.lo.s32", "mad.lo.u32", 1)
	require.NotEqual(t, kernels, other)
	for _, err := range compiled(t, build(other), func(r *ranks.Rank, p *ranks.Plan, bs []tracer.Buffer) error {
		_, err := p.Resume(context.Background(), dir)
		return err
	}) {
		assert.ErrorContains(t, err, "is of another program")
	}
}

// A run from the beginning replaces the checkpoints of an earlier one that has run more steps. The name of the directory may
// contain any characters.
func TestCheckpointsOfEarlierRuns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run[1]*")
	build := func(_ int, tr *tracer.Tracer) []tracer.Buffer { return wave(64, 1).build(tr) }
	checkpointed(t, dir, 7, build)
	checkpointed(t, dir, 3, build)
	for _, err := range compiled(t, build, func(r *ranks.Rank, plan *ranks.Plan, bs []tracer.Buffer) error {
		n, err := plan.Resume(context.Background(), dir)
		assert.Equal(t, 3, n)
		return err
	}) {
		require.NoError(t, err)
	}
}
