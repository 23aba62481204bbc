package sim

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Poison changes no time, and is a NaN in both precisions.
func TestPoison(t *testing.T) {
	assert.True(t, math.IsNaN(float64(math.Float32frombits(PoisonWord))))
	assert.True(t, math.IsNaN(math.Float64frombits(uint64(PoisonWord)<<32|uint64(PoisonWord))))
	word := PoisonWord
	assert.Less(t, int32(word), int32(-100000))
	clean, poisoned := open(t, Options{}), open(t, Options{Poison: true})
	for _, n := range []int64{0, 1, 4, 7, 1003, 1<<20 + 2} {
		for _, d := range []*Device{clean, poisoned} {
			p, err := d.Alloc(n)
			assert.NoError(t, err)
			b := make([]byte, n)
			assert.NoError(t, d.Read(b, p))
			_, host, err := d.AllocHost(n)
			assert.NoError(t, err)
			assert.Equal(t, host, b)
			for i, v := range b {
				want := byte(0)
				if d == poisoned {
					want = byte(PoisonWord >> (8 * (i % 4)))
				}
				if v != want {
					t.Fatalf("byte %d of %d is %#x", i, n, v)
				}
			}
		}
	}
	assert.Equal(t, clean.Now(), poisoned.Now())
}

// A program that forgets a transfer computes NaNs, also from memory that the launch memo knows.
func TestPoisonShowsAMissingTransfer(t *testing.T) {
	r := newUncheckedRig(t, Options{Poison: true})
	for range 10 {
		p, err := r.Alloc(4 * rigWords)
		r.ok(err)
		r.took(r.launchAffine(r.buffers[0], p, 1, 0))
		var b [4]byte
		r.ok(r.Read(b[:], r.buffers[0]))
		assert.Equal(t, PoisonWord, binary.LittleEndian.Uint32(b[:]))
		r.ok(r.Free(p))
	}
}
