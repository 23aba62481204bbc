package box

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// random returns a valid box inside [0, size), with small numbers so that all cases occur.
func random(r *rand.Rand, size int64) Box {
	for {
		b := Box{Lo: r.Int64N(size), Shape: Shape{Run: 1 + r.Int64N(4)}}
		for k := range r.IntN(3) {
			b.Count[k] = 1 + r.Int64N(4)
			b.Stride[k] = b.upTo(k) + r.Int64N(5)
		}
		if b = b.canonical(); b.Hi() <= size {
			return b
		}
	}
}

// bytes returns the set of bytes of b.
func bytes(b Box) map[int64]bool {
	set := map[int64]bool{}
	b.Runs(func(lo, hi int64) bool {
		for ; lo < hi; lo++ {
			set[lo] = true
		}
		return true
	})
	return set
}

func TestCanonicalFormKeepsTheBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		b := Box{Lo: 5, Shape: Shape{Run: 1 + r.Int64N(3)}}
		for k := range r.IntN(3) {
			b.Count[k] = 1 + r.Int64N(3)
			b.Stride[k] = b.upTo(k) + r.Int64N(3)
		}
		c := b.canonical()
		require.True(t, c.Valid(), "%+v", b)
		require.Equal(t, bytes(b), bytes(c), "%+v", b)
		require.EqualValues(t, len(bytes(c)), c.Bytes())
		require.Equal(t, c, c.canonical())
	}
}

func TestOverlapsIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	met := 0
	for range 50000 {
		b, c := random(r, 60), random(r, 60)
		common := false
		for x := range bytes(b) {
			common = common || bytes(c)[x]
		}
		require.Equal(t, common, b.Overlaps(c), "%+v %+v", b, c)
		if common {
			met++
		}
	}
	assert.Greater(t, met, 5000)
	assert.Less(t, met, 45000)
}

func TestHoldsIsSound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	held, found := 0, 0
	for range 100000 {
		b, c := random(r, 40), random(r, 40)
		inside, set := true, bytes(b)
		for x := range bytes(c) {
			inside = inside && set[x]
		}
		if inside {
			held++
		}
		if b.Holds(c) {
			found++
			require.True(t, inside, "%+v %+v", b, c)
		}
		require.True(t, b.Holds(b))
	}
	assert.Greater(t, found*100, held*90, "of %d, %d were found", held, found)
}

func TestClipKeepsBytesInside(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 50000 {
		b := random(r, 60)
		lo, hi := r.Int64N(60), r.Int64N(61)
		c := b.Clip(lo, hi)
		set := bytes(c)
		for x := range bytes(b) {
			require.True(t, x < lo || x >= hi || set[x], "%+v in %d:%d is %+v", b, lo, hi, c)
		}
		require.True(t, c.Empty() || c.Valid() && lo <= c.Lo && c.Hi() <= hi, "%+v in %d:%d is %+v", b, lo, hi, c)
	}
	tile := Box{Lo: 256, Shape: Shape{Run: 256, Count: [2]int64{100}, Stride: [2]int64{4096}}}
	assert.Equal(t, int64(64), tile.Clip(0, 64*4096).Count[0], "whole rows behind the end are dropped")
	assert.Equal(t, tile, tile.Clip(0, 1<<20))
}

func TestValid(t *testing.T) {
	for _, c := range []struct {
		s    Shape
		want bool
		why  string
	}{
		{Shape{Run: 4}, true, "contiguous"},
		{Shape{}, false, "no run"},
		{Shape{Run: 4, Count: [2]int64{3}, Stride: [2]int64{16}}, true, "one stride"},
		{Shape{Run: 4, Count: [2]int64{3}, Stride: [2]int64{4}}, false, "runs touch"},
		{Shape{Run: 4, Count: [2]int64{3}, Stride: [2]int64{2}}, false, "runs overlap"},
		{Shape{Run: 4, Count: [2]int64{1}, Stride: [2]int64{16}}, false, "a count of one"},
		{Shape{Run: 4, Count: [2]int64{0}, Stride: [2]int64{16}}, false, "a stride without a count"},
		{Shape{Run: 4, Count: [2]int64{0, 2}, Stride: [2]int64{0, 16}}, false, "level 1 alone"},
		{Shape{Run: 4, Count: [2]int64{3, 2}, Stride: [2]int64{16, 64}}, true, "two strides"},
		{Shape{Run: 4, Count: [2]int64{3, 2}, Stride: [2]int64{16, 48}}, false, "level 1 continues level 0"},
		{Shape{Run: 4, Count: [2]int64{3, 2}, Stride: [2]int64{16, 36}}, true, "elements of level 1 touch"},
		{Shape{Run: 4, Count: [2]int64{3, 2}, Stride: [2]int64{16, 35}}, false, "elements of level 1 overlap"},
		{Shape{Run: 4, Count: [2]int64{1 << 40}, Stride: [2]int64{1 << 40}}, false, "too long"},
	} {
		assert.Equal(t, c.want, c.s.Valid(), c.why)
	}
}

func TestShapeText(t *testing.T) {
	assert.Equal(t, "runs of 4 bytes", Shape{Run: 4}.String())
	assert.Equal(t, "runs of 4 bytes, 3 at stride 16, 2 at stride 64", Shape{Run: 4, Count: [2]int64{3, 2}, Stride: [2]int64{16, 64}}.String())
}

func BenchmarkOverlaps(b *testing.B) {
	x := Box{0, Shape{256, [2]int64{4096}, [2]int64{4096}}}
	y := Box{256, Shape{256, [2]int64{4096}, [2]int64{4096}}}
	for b.Loop() {
		x.Overlaps(y)
	}
}
