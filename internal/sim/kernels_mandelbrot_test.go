package sim_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// escapeTime follows the order of the kernel's operations, including the fused ones that nvcc
// chooses, since an orbit near the border of the set amplifies every rounding.
func escapeTime(cx, cy float64, limit int) int {
	var x, y float64
	for n := range limit {
		xx, yy := x*x, y*y
		if math.FMA(x, x, yy) > 4 {
			return n
		}
		y = math.FMA(x+x, y, cy)
		x = xx - yy + cx
	}
	return limit
}

func TestMandelbrot(t *testing.T) {
	onEachBuild(t, "mandelbrot", func(t *testing.T, g *gpu) {
		for _, p := range planes {
			const limit = 60
			left, top, step := -2.1, 1.3, 0.026
			counts := zeros[int32](g, p.nx*p.ny)
			g.launch("mandelbrot", plane(cover(p.nx, 16), cover(p.ny, 4), 16, 4), counts, int32(p.nx), int32(p.ny), left, top, step, int32(limit))
			want := make([]int32, p.nx*p.ny)
			for i := range want {
				cx := left + float64(float64(i%p.nx)*step)
				cy := top - float64(float64(i/p.nx)*step)
				want[i] = int32(escapeTime(cx, cy, limit))
			}
			require.Equal(t, want, counts.down(), "%v", p)
		}
	})
}

func collatz(v uint64, limit uint32) uint32 {
	for n := uint32(0); ; n++ {
		switch {
		case v == 1 || n == limit:
			return n
		case v%2 == 0:
			v /= 2
		case v > (math.MaxUint64-1)/3:
			return math.MaxUint32
		default:
			v = 3*v + 1
		}
	}
}

func TestCollatz(t *testing.T) {
	onEachBuild(t, "mandelbrot", func(t *testing.T, g *gpu) {
		var start []uint64
		for i := range uint64(200) {
			start = append(start, i+1, 1<<40+i, math.MaxUint64-i)
		}
		steps := zeros[uint32](g, len(start))
		g.launch("collatz", line(cover(len(start), 64), 64), up(g, start), steps, int32(len(start)), uint32(150))
		var want []uint32
		for _, v := range start {
			want = append(want, collatz(v, 150))
		}
		require.Equal(t, want, steps.down())
	})
}
