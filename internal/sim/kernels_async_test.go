package sim_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAsynchronousCopies(t *testing.T) {
	onEachBuild(t, "async", func(t *testing.T, g *gpu) {
		const rows = 3
		for _, tiles := range []int{1, 2, 7} {
			x := random[float32](rows*tiles*128, 1)
			out := zeros[float32](g, rows)
			g.launch("row_sums", line(rows, 32), up(g, x), out, int32(tiles))
			want := make([]float64, rows)
			for i, v := range x {
				want[i/(tiles*128)] += float64(v)
			}
			within(t, want, out.down(), always(0x1p-24*float64(tiles*128)*20), "%d tiles", tiles)
		}
	})
}

func TestSplitBarriers(t *testing.T) {
	onEachBuild(t, "async", func(t *testing.T, g *gpu) {
		for _, n := range []int{1, 32, 100, 128} {
			const rounds = 4
			x := ints(n, 100, 2)
			out := zeros[int32](g, n)
			g.launch("neighbours", line(1, n), up(g, x), out, int32(rounds))
			for range rounds {
				y := make([]int32, n)
				for i := range y {
					y[i] = 3*x[i] + x[(i+1)%n]
				}
				x = y
			}
			require.Equal(t, x, out.down(), "%d threads", n)
		}
	})
}

func bfloat(b uint16) float64 { return float64(math.Float32frombits(uint32(b) << 16)) }

// roundBfloat rounds to 8 bits, to even; the values here are far from the limits.
func roundBfloat(v float64) float64 {
	if v == 0 {
		return v
	}
	_, e := math.Frexp(v)
	unit := math.Ldexp(1, e-8)
	return math.RoundToEven(v/unit) * unit
}

func TestBfloat16(t *testing.T) {
	for _, build := range []string{"async.sm80", "async.sm90"} {
		g := load(t, build)
		const n = 400
		a, b := make([]uint16, 2*n), make([]uint16, 2*n)
		for i, w := range words(2*n, 0, 3) {
			a[i], b[i] = uint16(w)&0x83ff|0x3c00, uint16(w>>16)&0x83ff|0x3d00
		}
		out := zeros[uint16](g, 12*n)
		g.launch("bfloats", line(cover(n, 64), 64), up(g, a), up(g, b), out, int32(n))
		got := out.down()
		for i := range n {
			for half := range 2 {
				x, y := bfloat(a[2*i+half]), bfloat(b[2*i+half])
				last := roundBfloat(float64(float32(bfloat(a[2*i]) / 3)))
				if half == 1 {
					last = roundBfloat(float64(float32(y / 7)))
				}
				// Products of 8 by 8 bits are exact in float64, and so is the sum here.
				for k, want := range []float64{roundBfloat(x + y), roundBfloat(x * y), roundBfloat(x*y + x), max(x, y), -x, last} {
					require.Equal(t, want, bfloat(got[12*i+2*k+half]), "%s: result %d of %v and %v", build, k, x, y)
				}
			}
		}
	}
}
