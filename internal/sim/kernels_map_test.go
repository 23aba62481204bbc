package sim_test

import "testing"

func TestSaxpy(t *testing.T) {
	g := load(t, "map")
	for _, n := range []int{1, 31, 256, 5000} {
		x, y := random[float32](n, 1), random[float32](n, 2)
		out := up(g, y)
		g.launch("saxpy", line(cover(n, 128), 128), float32(-1.5), up(g, x), out, int32(n))
		want := make([]float64, n)
		for i := range want {
			want[i] = -1.5*float64(x[i]) + float64(y[i])
		}
		within(t, want, out.down(), always(0x1p-24*2.5), "%d elements", n)
	}
}

func TestFivePoints(t *testing.T) {
	g := load(t, "map")
	for _, p := range planes {
		in, out := random[float32](p.nx*p.ny, 1), zeros[float32](g, p.nx*p.ny)
		g.launch("five_points", plane(cover(p.nx, 32), cover(p.ny, 4), 32, 4), up(g, in), out, int32(p.nx), int32(p.ny))
		want := make([]float64, len(in))
		for i, v := range in {
			want[i] = float64(v)
			if x, y := i%p.nx, i/p.nx; x > 0 && y > 0 && x < p.nx-1 && y < p.ny-1 {
				want[i] += float64(in[i-1]) + float64(in[i+1]) + float64(in[i-p.nx]) + float64(in[i+p.nx])
				want[i] *= 0.2
			}
		}
		within(t, want, out.down(), always(6*0x1p-24), "%v", p)
	}
}
