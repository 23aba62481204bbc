package sim_test

import (
	"math"
	"testing"
)

// accelerations are the CPU's, four floats a body as the kernel has them.
func accelerations(p []float32, softening2 float64) []float64 {
	n := len(p) / 4
	out := make([]float64, 4*n)
	for i := range n {
		for j := range n {
			var r [3]float64
			d2 := softening2
			for c := range 3 {
				r[c] = float64(p[4*j+c]) - float64(p[4*i+c])
				d2 += r[c] * r[c]
			}
			for c := range 3 {
				out[4*i+c] += r[c] * float64(p[4*j+3]) / (d2 * math.Sqrt(d2))
			}
		}
	}
	return out
}

func TestNBody(t *testing.T) {
	g := load(t, "nbody")
	for _, n := range []int{1, 63, 200} {
		p := random[float32](4*n, 1)
		for i := range n {
			p[4*i+3] = float32(math.Abs(float64(p[4*i+3])))
		}
		const softening2, dt = 0.01, 0.001
		position, acceleration := up(g, p), zeros[float32](g, 4*n)
		velocities := random[float32](4*n, 2)
		velocity := up(g, velocities)
		s := line(cover(n, 64), 64)
		s.shared = 64 * 16
		g.launch("nbody", s, position, acceleration, int32(n), float32(softening2))
		g.launch("advance", line(cover(n, 96), 96), position, velocity, acceleration, int32(n), float32(dt))

		a := accelerations(p, softening2)
		// A pair adds at most mass / softening2; most pairs add far less.
		within(t, a, acceleration.down(), always(0x1p-24*float64(n)*100), "%d bodies", n)
		moved, speed := doubles(p), doubles(velocities)
		for i := range a {
			if i%4 < 3 {
				speed[i] += a[i] * dt
				moved[i] += speed[i] * dt
			}
		}
		within(t, speed, velocity.down(), always(1e-6), "velocities of %d", n)
		within(t, moved, position.down(), always(1e-6), "positions of %d", n)
	}
}
