package huge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/internal/huge"
)

func TestMakeIsMake(t *testing.T) {
	for _, n := range []int{0, 1, 4<<20 - 1, 4<<20 + 1, 5<<20 + 511} { // on both sides of what is advised on
		s := huge.Make[[]byte](n / 3)
		assert.Len(t, s, n/3)
		words := huge.Make[uint64](n)
		for i, w := range words {
			if w != 0 {
				t.Fatalf("word %d of %d is %d", i, n, w)
			}
			words[i] = uint64(i)
		}
		assert.Len(t, words, n)
	}
}
