package bench

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDLAtOddSizes runs dl with one feature, with layers that have remainders, and with fewer blocks than tiles.
func TestDLAtOddSizes(t *testing.T) {
	for _, p := range []Params{
		{Size: 20}, {Size: 29, Threads: 32}, {Size: 43, Threads: 1024, Seed: 7},
		{Size: 101, Threads: 128, Blocks: 1}, {Size: 105, Blocks: 5, Seed: 1 << 63},
	} {
		_, in := replayed(t, dl, p)
		_, err := in.Check()
		assert.NoError(t, err, fmt.Sprintf("%+v", p))
	}
}

func TestDLCheckNamesWhatIsWrong(t *testing.T) {
	dev, in := replayed(t, dl, Params{Size: 100})
	_, err := in.Check()
	require.NoError(t, err)
	last := 2*newDLLayers(100).features - 1
	for _, feature := range []int{0, last} {
		assert.ErrorContains(t, checkAfter(t, dev, in, "z", feature, math.Float32bits(float32(math.NaN()))),
			fmt.Sprintf("z differs from the CPU reference in 1 of %d elements: first at [%d]", last+1, feature))
	}
	assert.ErrorContains(t, checkAfter(t, dev, in, "res_host", 0, math.Float32bits(0)), "res = 0, want ")
	_, err = in.Check()
	assert.NoError(t, err)
}

// TestDLLayers checks the extents at the benchmark's sizes: half the side, a fifth of that, half of that.
func TestDLLayers(t *testing.T) {
	for side, features := range map[int]int{3000: 150 * 150 * 16, 7000: 350 * 350 * 16, 16000: 800 * 800 * 16, 20: 16, 39: 16, 40: 64} {
		assert.Equal(t, features, newDLLayers(side).features, "%d pixels", side)
	}
}

func TestDLBlocks(t *testing.T) {
	for sms, blocks := range map[int]int{8: 16, 22: 176, 56: 448, 132: 1056} {
		assert.Equal(t, blocks, dlBlocks(sms), "%d multiprocessors", sms)
	}
}
