package rewrite

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// TestTileMatches runs each kernel, and the same grid in up to eight boxes that random borders cut. The blocks then run in
// another order. Kernels whose result depends on it are cut along their last axis only, which keeps the order.
func TestTileMatches(t *testing.T) {
	c := tally{}
	for i, k := range corpus(t) {
		if i%3 == 0 { // TestRangeMatches runs all
			c[tileCase(t, k, uint64(i))]++
		}
	}
	c.check(t)
}

func tileCase(t *testing.T, k corpusKernel, seed uint64) string {
	r, err := Tile(k.module, k.kernel.Name)
	if isRefusal(t, err) {
		return refused
	}
	for try := range uint64(attempts) {
		rng := rand.New(rand.NewPCG(seed, try))
		s := k.shape(rng)
		whole := newMachine(t, seed+try, instanceBuffers)
		params := k.params(rng, whole.buffers)
		if _, err := whole.run(k.module, k.kernel.Name, s.launch(params)); err != nil {
			continue
		}
		boxes := cut(rng, s.grid, 0)
		if !k.repeatable() {
			inBoxes(t, k, r, seed+try, s, params, boxes)
			return same
		}
		if slices.EqualFunc(whole.contents(), inBoxes(t, k, r, seed+try, s, params, boxes), bytes.Equal) {
			return same
		}
		boxes = cut(rng, s.grid, dimensions(s.grid)-1)
		equal := slices.EqualFunc(whole.contents(), inBoxes(t, k, r, seed+try, s, params, boxes), bytes.Equal)
		require.True(t, equal, "%s grid %v\n%s", k, s.grid, r.Text)
		return otherOrder
	}
	return onlyFaults
}

// inBoxes runs boxes of a grid one after the other and returns the contents of the buffers.
func inBoxes(t *testing.T, k corpusKernel, r *Result, seed uint64, s launchShape, params []byte, boxes [][2][3]uint32) [][]byte {
	m := newMachine(t, seed, instanceBuffers)
	for _, box := range boxes {
		args := r.TileArguments(s.grid, box[0])
		block := r.block([]*ptx.Func{k.kernel}, [][]byte{params}, func(i int, _ Origin) uint64 { return uint64(args[i-len(k.kernel.Params)]) })
		_, err := m.run(r.Module, r.Kernel, launchShape{box[1], s.block, s.shared}.launch(block))
		require.NoError(t, err, "%s\n%s", k, r.Text)
	}
	return m.contents()
}

// cut cuts a grid at a random border of each axis from first on. A box is its first block and the number of blocks on each axis.
func cut(rng *rand.Rand, grid [3]uint32, first int) (boxes [][2][3]uint32) {
	var borders [3][]uint32
	for a, n := range grid {
		borders[a] = []uint32{0, n}
		if n > 1 && a >= first {
			borders[a] = []uint32{0, 1 + rng.Uint32N(n-1), n}
		}
	}
	for z := range len(borders[2]) - 1 {
		for y := range len(borders[1]) - 1 {
			for x := range len(borders[0]) - 1 {
				var box [2][3]uint32
				for a, i := range [3]int{x, y, z} {
					box[0][a], box[1][a] = borders[a][i], borders[a][i+1]-borders[a][i]
				}
				boxes = append(boxes, box)
			}
		}
	}
	return boxes
}
