package sim_test

import (
	"math"
	"testing"
)

// scaled is random floats in [-by, by).
func scaled(n int, by float32, seed uint64) []float32 {
	v := random[float32](n, seed)
	for i := range v {
		v[i] *= by
	}
	return v
}

func softmax(x []float32) []float64 {
	out, largest, sum := make([]float64, len(x)), math.Inf(-1), 0.0
	for _, v := range x {
		largest = max(largest, float64(v))
	}
	for i, v := range x {
		out[i] = math.Exp(float64(v) - largest)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

func TestSoftmax(t *testing.T) {
	onEachBuild(t, "rows", func(t *testing.T, g *gpu) {
		const rows = 5
		for _, n := range []int{1, 31, 64, 300} {
			x := scaled(rows*n, 30, 1)
			x[0] = -1000
			if n > 1 {
				x[1] = float32(math.Inf(-1))
			}
			var want []float64
			for r := range rows {
				want = append(want, softmax(x[r*n:(r+1)*n])...)
			}
			// exp doubles the relative error of its argument's rounding, which for
			// arguments down to -60 is up to 60 units; __expf adds its own.
			tolerance := func(i int) float64 { return want[i]*0x1p-23*150 + 1e-38 }

			y := zeros[float32](g, rows*n)
			g.launch("softmax_warp", line(2, 96), up(g, x), y, int32(rows), int32(n))
			within(t, want, y.down(), tolerance, "softmax_warp, %d", n)

			y = zeros[float32](g, rows*n)
			s := line(rows, 64)
			s.shared = 64 * 8
			g.launch("softmax_online", s, up(g, x), y, int32(n))
			within(t, want, y.down(), tolerance, "softmax_online, %d", n)
		}
	})
}

// normalize is (x - mean) / sqrt(variance + epsilon) * gain + bias.
func normalize(x, gain, bias []float32, epsilon float64) (out []float64, mean, rstd float64) {
	for _, v := range x {
		mean += float64(v) / float64(len(x))
	}
	variance := 0.0
	for _, v := range x {
		variance += (float64(v) - mean) * (float64(v) - mean) / float64(len(x))
	}
	rstd = 1 / math.Sqrt(variance+epsilon)
	for i, v := range x {
		out = append(out, (float64(v)-mean)*rstd*float64(gain[i])+float64(bias[i]))
	}
	return out, mean, rstd
}

func TestLayerNorm(t *testing.T) {
	onEachBuild(t, "rows", func(t *testing.T, g *gpu) {
		const rows = 6
		for _, n := range []int{1, 7, 128, 500} {
			x, gain, bias := scaled(rows*n, 4, 2), random[float32](n, 3), random[float32](n, 4)
			for i := range x {
				x[i] += 10 // a mean that a naive sum of squares would trip over
			}
			var want, means, rstds []float64
			for r := range rows {
				y, mean, rstd := normalize(x[r*n:(r+1)*n], gain, bias, 1e-5)
				want, means, rstds = append(want, y...), append(means, mean), append(rstds, rstd)
			}
			y := zeros[float32](g, rows*n)
			g.launch("layernorm", line(rows, 96), up(g, x), up(g, gain), up(g, bias), y, int32(n), float32(1e-5))
			within(t, want, y.down(), always(2e-5), "layernorm, %d", n)
			if n != 128 {
				continue
			}
			y, mean, rstd := zeros[float32](g, rows*n), zeros[float32](g, rows), zeros[float32](g, rows)
			g.launch("layernorm128", plane(2, 1, 32, 4), up(g, x), up(g, gain), up(g, bias), y, mean, rstd, int32(rows))
			within(t, want, y.down(), always(1e-5), "layernorm128")
			within(t, means, mean.down(), always(1e-5), "its means")
			within(t, rstds, rstd.down(), always(1e-6), "its deviations")
		}
	})
}

func TestGelu(t *testing.T) {
	onEachBuild(t, "rows", func(t *testing.T, g *gpu) {
		const n = 1000
		x := scaled(n, 6, 5)
		approx, exact := zeros[float32](g, n), zeros[float32](g, n)
		g.launch("gelu", line(cover(n, 256), 256), up(g, x), approx, exact, int32(n))
		tanh, cdf := make([]float64, n), make([]float64, n)
		for i, v := range doubles(x) {
			tanh[i] = 0.5 * v * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
			cdf[i] = v * 0.5 * math.Erfc(-v/math.Sqrt2)
		}
		// 1 + tanh cancels for negative x; tanh.approx of fast math has an error of 2^-11.
		tolerance := 2e-6
		if t.Name() == "TestGelu/rows.fast" {
			tolerance = 6 * 0x1p-11
		}
		within(t, tanh, approx.down(), always(tolerance), "by tanh")
		within(t, cdf, exact.down(), always(2e-6), "by the normal distribution")
	})
}
