package sim_test

import (
	"math"
	"testing"
)

// product is the CPU's alpha A B + beta C, and a bound of its rounding errors: the sum
// of the magnitudes of what is added, times the number of additions.
func product[T float32 | float64](m, n, k int, alpha T, a, b []T, beta T, c []T) (want []float64, bound func(unit float64) func(int) float64) {
	want = make([]float64, m*n)
	magnitude := make([]float64, m*n)
	for i := range m {
		for j := range n {
			var sum, abs float64
			for l := range k {
				p := float64(a[i*k+l]) * float64(b[l*n+j])
				sum += p
				abs += math.Abs(p)
			}
			old := float64(beta) * float64(c[i*n+j])
			want[i*n+j] = float64(alpha)*sum + old
			magnitude[i*n+j] = math.Abs(float64(alpha))*abs + math.Abs(old)
		}
	}
	return want, func(unit float64) func(int) float64 {
		return func(i int) float64 { return unit * float64(k+2) * magnitude[i] }
	}
}

func TestTiledGemm(t *testing.T) {
	onEachBuild(t, "gemm", func(t *testing.T, g *gpu) {
		for _, s := range []struct{ m, n, k int }{{1, 1, 1}, {1, 1, 0}, {16, 16, 16}, {17, 15, 33}, {5, 70, 3}, {64, 48, 40}} {
			testGemm[float32](t, g, "sgemm", s.m, s.n, s.k, 0x1p-24)
			testGemm[float64](t, g, "dgemm", s.m, s.n, s.k, 0x1p-53)
		}
	})
}

func testGemm[T float32 | float64](t *testing.T, g *gpu, kernel string, m, n, k int, unit float64) {
	a, b, c := random[T](m*k, 1), random[T](k*n, 2), random[T](m*n, 3)
	for _, beta := range []T{0, -0.75} {
		out := up(g, c)
		g.launch(kernel, plane(cover(n, 16), cover(m, 16), 16, 16), int32(m), int32(n), int32(k), T(1.5), up(g, a), up(g, b), beta, out)
		want, bound := product(m, n, k, 1.5, a, b, beta, c)
		within(t, want, out.down(), bound(unit), "%s %dx%dx%d", kernel, m, n, k)
	}
}

func TestGemmInRegisters(t *testing.T) {
	onEachBuild(t, "gemm", func(t *testing.T, g *gpu) {
		for _, s := range []struct{ m, n, k int }{{64, 64, 16}, {64, 128, 32}, {128, 64, 48}} {
			a, b, c := random[float32](s.m*s.k, 1), random[float32](s.k*s.n, 2), random[float32](s.m*s.n, 3)
			out := up(g, c)
			g.launch("sgemm_registers", line(1, 256).over(s.n/64, s.m/64), int32(s.m), int32(s.n), int32(s.k),
				float32(-2), up(g, a), up(g, b), float32(0.5), out)
			want, bound := product(s.m, s.n, s.k, -2, a, b, 0.5, c)
			within(t, want, out.down(), bound(0x1p-24), "%v", s)
		}
	})
}
