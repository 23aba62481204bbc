package programs

import (
	_ "embed"
	"math"

	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/internal/bench/reference"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

//go:embed nbody.ptx
var nbodyPTX string

// nbody is bodies that attract each other. A replay is one step:
//
//	force   velocities from all positions
//	move    positions
//
// Each step reads all positions, and writes those of its own bodies.
var nbody = &Kind{
	Name:     "nbody",
	Doc:      "bodies that attract each other, all pairs, one step per replay",
	Tiny:     "333",
	extents:  []extent{{name: "bodies", usual: 4096, least: 1}},
	elements: func(e []int) float64 { return 4 * product(e...) },
	record:   recordNBody,
}

const (
	nbodyTile = 256
	nbodyDt   = 0.01
	nbodyEps  = 1e-9
)

// nbodyTolerance is for up to 20 steps. Bodies come close to each other after some 50, and then errors grow.
const nbodyTolerance = 1e-4

func recordNBody(t *tracer.Tracer, e []int) *Instance {
	n := e[0]
	module := t.Module("nbody.ptx", nbodyPTX)
	x := t.Alloc("x", ir.F32, 4*int64(n), ir.InOut)
	v := t.Alloc("v", ir.F32, 4*int64(n), ir.InOut)
	shape := tracer.Linear(blocks(n, nbodyTile), nbodyTile)
	t.Launch(module.Kernel("nbody_force"), shape, v, x, n, nbodyDt, nbodyEps)
	t.Launch(module.Kernel("nbody_move"), shape, x, v, n, nbodyDt)

	in := &Instance{Steps: 1}
	starts(in, x, func() []float32 { return bodyPositions(n) })
	starts(in, v, func() []float32 { return bodyVelocities(n) })
	in.compares(x, nbodyTolerance)
	in.compares(v, nbodyTolerance)
	in.expect = func(replays int) [][]float64 {
		bodies := newBodies(n)
		for range replays {
			reference.NBody(bodies, nbodyDt, nbodyEps)
		}
		x, v := make([]float64, 4*n), make([]float64, 4*n)
		for i, b := range bodies {
			copy(x[4*i:], b.X[:])
			copy(v[4*i:], b.V[:])
		}
		return [][]float64{x, v}
	}
	return in
}

func newBodies(n int) []reference.Body {
	x, v := wide(bodyPositions(n)), wide(bodyVelocities(n))
	return input.Array(n, func(i int) reference.Body {
		return reference.Body{X: [3]float64(x[4*i:]), V: [3]float64(v[4*i:])}
	})
}

// bodyPositions puts the bodies near the points of a cubic lattice with distances of 1. The distance of two bodies is at
// least 1/2, so that no pair dominates.
func bodyPositions(n int) []float32 {
	side := int(math.Ceil(math.Cbrt(float64(n))))
	random := input.Of("nbody/x", 1)
	return perBody(n, func(body, axis int) float32 {
		at := [3]int{body % side, body / side % side, body / (side * side)}[axis]
		return float32(at) + random.Float32(3*body+axis)/2
	})
}

func bodyVelocities(n int) []float32 {
	random := input.Of("nbody/v", 1)
	return perBody(n, func(body, axis int) float32 { return random.Float32(3*body+axis) - 0.5 })
}

// perBody returns an array of x, y, z and 0 for each body.
func perBody(n int, value func(body, axis int) float32) []float32 {
	return input.Array(4*n, func(i int) float32 {
		if i%4 == 3 {
			return 0
		}
		return value(i/4, i%4)
	})
}
