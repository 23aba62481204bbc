package bench

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// TestSGEMMAtOddShapes runs each kernel, at shapes that fill no tile.
func TestSGEMMAtOddShapes(t *testing.T) {
	for shape, kernel := range map[Shape]string{
		{129, 65, 70}: "gemm_128x64", {70, 9, 33}: "gemm_64x64", {130, 63, 20}: "gemm_64x64", {33, 7, 18}: "gemm_thin", {512, 1, 512}: "gemm_thin", {1, 1, 1}: "gemm_thin",
	} {
		_, in := replayed(t, sgemm, Params{Size: 3, Shape: shape})
		diff, err := in.Check()
		require.NoError(t, err, "%v", shape)
		assert.Less(t, diff, 1e-4)
		assert.Len(t, launched(in, kernel), 3, "%v", shape)
		assert.Empty(t, in.Trace.Graph.Deps(), "the products are independent")
	}
}

// TestSGEMMWithANamedKernel runs each kernel where the shape selects another.
func TestSGEMMWithANamedKernel(t *testing.T) {
	for _, kernel := range ProductKernels() {
		_, in := replayed(t, sgemm, Params{Size: 2, Shape: Shape{129, 65, 35}, Kernel: kernel})
		_, err := in.Check()
		require.NoError(t, err, kernel)
		assert.Len(t, launched(in, kernel), 2)
	}
	assert.EqualError(t, sgemm.Takes(&Params{Kernel: "gemm"}), `sgemm has no kernel "gemm": use gemm_128x64, gemm_64x64, gemm_plain, gemm_thin`)
	assert.EqualError(t, vec.Takes(&Params{Kernel: "gemm_thin"}), "vec has no choice of kernels: leave the kernel gemm_thin out")
}

func TestSlowBatchHasTheTilesOfTheKernel(t *testing.T) {
	for _, s := range []Shape{{}, DefaultShape, {256, 256, 256}} {
		assert.Equal(t, "gemm_plain", SlowBatch(s))
	}
	for _, s := range []Shape{{512, 1, 512}, {127, 64, 9}, {128, 63, 9}} {
		assert.Empty(t, SlowBatch(s))
	}
}

func TestSGEMMCheckNamesWhatIsWrong(t *testing.T) {
	dev, in := replayed(t, sgemm, Params{Size: 2, Shape: Shape{9, 10, 11}})
	for _, bits := range []uint32{0, math.Float32bits(float32(math.NaN()))} {
		assert.ErrorContains(t, checkAfter(t, dev, in, "c1", 34, bits), "c1[3][4] = ")
	}
	_, err := in.Check()
	assert.NoError(t, err)
}

func TestSomeOf(t *testing.T) {
	assert.Equal(t, []int{0, 1, 2}, someOf(3, 3, 1))
	assert.Equal(t, []int{6}, someOf(7, 0, 1))
	some := someOf(1000, 10, 1)
	assert.Len(t, some, 10)
	assert.Equal(t, 999, some[0])
	assert.Subset(t, someOf(1000, 1000, 1), some)
	assert.NotEqual(t, some, someOf(1000, 10, 2))
}

// TestPublishedProductsFillWaves expects 4 blocks per product and one resident block on each of the 80 multiprocessors
// of a V100, so that 20 products are one wave.
func TestPublishedProductsFillWaves(t *testing.T) {
	dev, err := sim.New(sim.Options{Profile: "v100"})
	require.NoError(t, err)
	assert.Equal(t, 80, dev.Info().Multiprocessors)
	for _, kernel := range []string{"gemm_128x64", "gemm_plain"} {
		in, err := sgemm.New(dev, Params{Size: 1, Kernel: kernel})
		require.NoError(t, err)
		l := launched(in, kernel)[0].Launch
		assert.EqualValues(t, 4, l.Grid.Count())
		k, ok := kernels.Lookup(kernel)
		require.True(t, ok)
		m, err := dev.LoadModule(k.File, k.PTX)
		require.NoError(t, err)
		f, err := dev.Function(m, k.Name)
		require.NoError(t, err)
		resident, err := dev.Occupancy(f, int(l.Block.Count()), int(l.Shared))
		require.NoError(t, err)
		assert.Equal(t, 1, resident, kernel)
		require.NoError(t, in.Close())
	}
}

func TestParseShape(t *testing.T) {
	s, err := ParseShape("256x128x1152")
	require.NoError(t, err)
	assert.Equal(t, Shape{256, 128, 1152}, s)
	assert.Equal(t, "256x128x1152", s.String())
	assert.Empty(t, Shape{}.String())
	for _, wrong := range []string{"", "1x2", "1x2x3x4", "1x2x0", "1x2x-3", "1x2x32769", "ax2x3", "1 x2x3"} {
		_, err := ParseShape(wrong)
		assert.Error(t, err, wrong)
	}
}
