package validation

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A walk along a chain visits every place once and returns to the first.
func TestChainsAreOneCycle(t *testing.T) {
	const base = 1 << 33
	for _, n := range []int{1, 2, 3, 64, 1000} {
		data := make([]byte, n*chainStride)
		fillChain(data, base)
		seen := make([]bool, n)
		at, jumps := uint64(0), 0
		for range n {
			assert.False(t, seen[at], "place %d of %d", at, n)
			seen[at] = true
			next := binary.LittleEndian.Uint64(data[at*chainStride:]) - base
			assert.Zero(t, next%chainStride)
			if next/chainStride != (at+1)%uint64(n) {
				jumps++
			}
			at = next / chainStride
		}
		assert.Zero(t, at, "of %d", n)
		if n == 1000 {
			assert.Greater(t, jumps, 900, "the order is random")
		}
	}
}

func TestRandomWordsAreThoseOfXorshift(t *testing.T) {
	data := make([]byte, 20)
	fillRandom(data, 0)
	assert.Equal(t, uint64(8748534153485358512), binary.LittleEndian.Uint64(data), "the first number for the shifts 13, 7 and 17")
	assert.Equal(t, uint64(3040900993826735515), binary.LittleEndian.Uint64(data[8:]), "the second")
	assert.Equal(t, []byte{0, 0, 0, 0}, data[16:])
}

func TestParametersAreAligned(t *testing.T) {
	assert.Equal(t, []byte{1, 0, 0, 0, 2, 2, 2, 2, 3, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 4, 4, 4, 4, 4},
		pack([][]byte{{1}, {2, 2, 2, 2}, {3}, {4, 4, 4, 4, 4, 4, 4, 4}}))
	assert.Empty(t, pack(nil))
}
