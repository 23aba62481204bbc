package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/null"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/sim"
	"github.com/reprise-gpu/reprise/tracer"
)

// What the host may touch is drafted in place, slices of buffers too, and from anywhere a draft
// arrives when it is written.
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

// A draft of managed memory waits for what kernels do with it, and fails as that does.
func TestADraftThatCannotBe(t *testing.T) {
	dev := null.New()
	tr := tracer.New(dev, "drafts", tracer.Deferred)
	m := tr.AllocManaged("m", ir.I32, 8, ir.Input)
	require.NoError(t, dev.Close())
	_, err := tracer.Draft[int32](m)
	assert.ErrorContains(t, err, "draft @m: ")
}
