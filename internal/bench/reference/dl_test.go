package reference

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestConvolveByHand(t *testing.T) {
	v := VolumeOf(4, 5, 1, []float32{
		1, 2, 3, 4, 5,
		6, 7, 8, 9, 10,
		11, 12, 13, 14, 15,
		16, 17, 18, 19, 20,
	})
	corners := []float32{1, 0, 0, 0, 0, 0, 0, 0, 2} // of a window, the first once and the last twice
	less := []float32{-1, 0, 0, 0, 0, 0, 0, 0, 0}
	got := convolve(v, append(corners, less...), 2, 3, 2)
	assert.Equal(t, &Volume{2, 2, 2, []float64{
		1 + 2*13, 0, 3 + 2*15, 0,
		0, 0, 0, 0, // rows 2, 3 and 4, of which there is no 4
	}}, got)
}

func TestConvolveAddsUpChannels(t *testing.T) {
	v := VolumeOf(1, 2, 3, []float32{1, 10, 100, 2, 20, 200})
	got := convolve(v, []float32{1, 2, 3, 0, -1, 0}, 2, 1, 1)
	assert.Equal(t, []float64{1 + 20 + 300, 0, 2 + 40 + 600, 0}, got.Data)
}

func TestPoolByHand(t *testing.T) {
	v := VolumeOf(3, 4, 2, []float32{
		1, 0, 2, 1, 3, 1, 4, 1,
		5, 0, 6, 0, 7, 0, 8, 1,
		9, 9, 9, 9, 9, 9, 9, 9,
	})
	assert.Equal(t, &Volume{1, 2, 2, []float64{3.5, 0.25, 5.5, 0.75}}, v.pool(2))
}

// network returns a random branch. Weights are positive, so that no sum is clipped to 0.
func network(seed uint64, side int) Branch {
	rng := rand.New(rand.NewPCG(seed, 0))
	floats := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = rng.Float32()
		}
		return v
	}
	return Branch{VolumeOf(side, side, 1, floats(side*side)), floats(8 * 9), floats(16 * 9 * 8)}
}

func TestDLHasTheBenchmarksExtents(t *testing.T) {
	for side, c := range map[int]int{20: 1, 101: 5, 100: 5, 400: 20} {
		f := network(1, side).Features()
		assert.Equal(t, [3]int{c, c, 16}, [3]int{f.Rows, f.Cols, f.Channels}, "%d pixels", side)
	}
}

// TestDLIsLinearInPositiveImages expects a network without clipping to be linear in its image.
func TestDLIsLinearInPositiveImages(t *testing.T) {
	a, b := network(1, 60), network(2, 60)
	sum := network(1, 60)
	for i := range sum.Image.Data {
		sum.Image.Data[i] = 2*a.Image.Data[i] + b.Image.Data[i]
	}
	b.Weights1, b.Weights2 = a.Weights1, a.Weights2
	want := a.Features()
	for i, f := range b.Features().Data {
		want.Data[i] = 2*want.Data[i] + f
	}
	assert.InDeltaSlice(t, want.Data, sum.Features().Data, 1e-9)
}

// TestDLAtOnePlace computes one feature of the whole network directly from the definition.
func TestDLAtOnePlace(t *testing.T) {
	n := network(5, 100)
	first := func(row, col, l int) (v float64) {
		for k, w := range n.Weights1[l*9 : l*9+9] {
			v += float64(w) * n.Image.Data[(2*row+k/3)*100+2*col+k%3]
		}
		return v
	}
	pooled := func(row, col, l int) (v float64) {
		for k := range 25 {
			v += first(5*row+k/5, 5*col+k%5, l) / 25
		}
		return v
	}
	want := 0.0
	for k, w := range n.Weights2[7*72 : 8*72] {
		want += float64(w) * pooled(4+k/24, 2+k/8%3, k%8)
	}
	assert.InDelta(t, want, n.Features().at(2, 1, 7), 1e-10)
}

func TestDLHearsBothImages(t *testing.T) {
	x, y := network(1, 60), network(2, 60)
	n := 3 * 3 * 16
	dense := make([]float32, 2*n)
	dense[17], dense[n+17] = 1, -2
	features, res, magnitude := DL(x, y, dense)
	assert.Len(t, features, 2*n)
	a, b := x.Features().Data[17], y.Features().Data[17]
	assert.InDelta(t, a-2*b, res, 1e-12)
	assert.InDelta(t, a+2*b, magnitude, 1e-12)
}
