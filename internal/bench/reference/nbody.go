package reference

import "math"

// Body is a body of mass 1 at X with velocity V.
type Body struct{ X, V [3]float64 }

// NBody advances the bodies by one step. The force on body i is the sum over all j of
// (x[j] - x[i]) (|x[j] - x[i]|^2 + eps)^(-3/2). Velocities advance by dt times the force, then positions by dt times the
// velocity.
func NBody(bodies []Body, dt, eps float64) {
	for i := range bodies {
		force := forceOn(bodies, i, eps)
		for axis, f := range force {
			bodies[i].V[axis] += dt * f
		}
	}
	for i := range bodies {
		b := &bodies[i]
		for axis := range b.X {
			b.X[axis] += dt * b.V[axis]
		}
	}
}

func forceOn(bodies []Body, i int, eps float64) (force [3]float64) {
	for j := range bodies {
		var d [3]float64
		squared := eps
		for axis := range d {
			d[axis] = bodies[j].X[axis] - bodies[i].X[axis]
			squared += d[axis] * d[axis]
		}
		weight := 1 / (squared * math.Sqrt(squared))
		for axis := range d {
			force[axis] += d[axis] * weight
		}
	}
	return force
}
