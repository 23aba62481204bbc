package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// Draft returns the memory itself where the host may touch it, also for slices of buffers. In all kinds of
// memory a draft has its effect when it is written.
func TestDraft(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	defer dev.Close()
	tr := tracer.New(dev, "drafts", tracer.Deferred)
	for name, c := range map[string]struct {
		b       tracer.Buffer
		inPlace bool
	}{
		"device":  {tr.Alloc("d", ir.I32, 8, ir.Input), false},
		"pinned":  {tr.AllocHost("p", ir.I32, 8, ir.Input), true},
		"managed": {tr.AllocManaged("m", ir.I32, 8, ir.Input), true},
	} {
		require.NoError(t, tracer.Write(c.b, []int32{0, 1, 2, 3, 4, 5, 6, 7}), name)
		part := c.b.Slice(2, 5)
		draft, err := tracer.Draft[int32](part)
		require.NoError(t, err, name)
		require.Len(t, draft, 3, name)
		copy(draft, []int32{20, 30, 40})
		got := make([]int32, 8)
		require.NoError(t, tracer.Read(got, c.b), name)
		assert.Equal(t, c.inPlace, got[2] == 20, name)
		require.NoError(t, tracer.Write(part, draft), name)
		require.NoError(t, tracer.Read(got, c.b), name)
		assert.Equal(t, []int32{0, 1, 20, 30, 40, 5, 6, 7}, got, name)

		none, err := tracer.Draft[int32](c.b.Slice(8, 8))
		require.NoError(t, err, name)
		assert.Empty(t, none, name)
	}
}

// Draft of managed memory waits for the kernels that use it, and returns their error.
func TestADraftThatCannotBe(t *testing.T) {
	dev := null.New()
	tr := tracer.New(dev, "drafts", tracer.Deferred)
	m := tr.AllocManaged("m", ir.I32, 8, ir.Input)
	require.NoError(t, dev.Close())
	_, err := tracer.Draft[int32](m)
	assert.ErrorContains(t, err, "draft @m: ")
}

// Numbers of another type are refused even if they have the same size. Unsigned integers and bytes are
// accepted as bits of any type.
func TestElementsHaveToAgree(t *testing.T) {
	tr := tracer.New(null.New(), "elements", tracer.Deferred)
	f32, f64 := tr.Alloc("f32", ir.F32, 8, ir.InOut), tr.Alloc("f64", ir.F64, 4, ir.InOut)
	i32, half := tr.Alloc("i32", ir.I32, 8, ir.InOut), tr.AllocHost("half", ir.F16, 16, ir.InOut)
	type celsius float32
	for _, good := range []error{
		tracer.Write(f32, make([]float32, 8)), tracer.Write(f32, make([]celsius, 8)), tracer.Write(f32, make([]uint32, 8)),
		tracer.Write(f32, make([]byte, 32)), tracer.Write(f64, make([]float64, 4)), tracer.Write(i32, make([]int32, 8)),
		tracer.Write(i32, make([]uint32, 8)), tracer.Write(half, make([]uint16, 16)), tracer.Read(make([]float64, 4), f64),
		tracer.Write(f32.Slice(2, 2), []float64{}),
	} {
		require.NoError(t, good)
	}
	_, draft := tracer.Draft[float64](f32)
	for i, bad := range []error{
		tracer.Write(f32, make([]float64, 4)), tracer.Read(make([]float64, 4), f32), tracer.Write(f64, make([]float32, 8)),
		tracer.Write(f32, make([]int32, 8)), tracer.Write(i32, make([]float32, 8)), tracer.Write(i32, make([]celsius, 8)),
		tracer.Write(f32, make([]uint16, 16)), tracer.Write(half, make([]float32, 8)), tracer.Write(half, make([]int16, 16)),
		tracer.Write(f32.Slice(0, 4), make([]float64, 2)), draft,
	} {
		require.ErrorIs(t, bad, tracer.ErrElement, "%d", i)
	}
}
