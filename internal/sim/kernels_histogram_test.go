package sim_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHistograms(t *testing.T) {
	g := load(t, "histogram")
	for _, quads := range []int{0, 1, 100, 2500} {
		data := bytesOf(words(quads, 0, 1))
		for i := range data[:len(data)/2] {
			data[i] &= 3 // half of them collide
		}
		want256, want64 := make([]uint32, 256), make([]uint32, 64)
		for _, v := range data {
			want256[v]++
			want64[v>>2]++
		}
		d, fine, coarse := up(g, data), zeros[uint32](g, 256), zeros[uint32](g, 64)
		g.launch("histogram256", line(3, 192), d, fine, int32(len(data)))
		s := line(2, 96)
		s.shared = 3 * 64 * 4
		g.launch("histogram64", s, d, coarse, int32(quads))
		require.Equal(t, want256, fine.down(), "%d bytes", len(data))
		require.Equal(t, want64, coarse.down(), "%d bytes", len(data))
	}
}

func TestWeightedHistogram(t *testing.T) {
	g := load(t, "histogram")
	const n, count = 3000, 37
	x, w := random[float32](n, 2), random[float32](n, 3)
	bins := zeros[float32](g, count)
	g.launch("histogram_range", line(cover(n, 128), 128), up(g, x), up(g, w), bins, int32(n), int32(count), float32(-0.75), float32(0.5))
	want, magnitude := make([]float64, count), make([]float64, count)
	for i := range x {
		// The bin is decided in float32: near an edge, float64 would decide otherwise.
		bin := int(math.Floor(float64((x[i] + 0.75) / (0.5 + 0.75) * count)))
		bin = min(max(bin, 0), count-1)
		want[bin] += float64(w[i])
		magnitude[bin] += math.Abs(float64(w[i]))
	}
	within(t, want, bins.down(), func(i int) float64 { return 0x1p-24 * n * magnitude[i] })
}
