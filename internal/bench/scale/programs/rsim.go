package programs

import (
	_ "embed"
	"math"
	"sync"

	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/internal/bench/reference"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

//go:embed rsim.ptx
var rsimPTX string

// rsim is light on its way between triangles. A replay is the whole run, a launch for each step. Step t reads rows 0 to
// t-1 of the radiosities for all triangles, and writes row t.
var rsim = &Kind{
	Name:     "rsim",
	Doc:      "radiosity with the time of flight of light, all steps in one replay",
	Tiny:     "45x12",
	extents:  []extent{{name: "triangles", usual: 1024, least: 1}, {name: "steps", usual: 50, least: 1}},
	elements: func(e []int) float64 { return max(product(e[0], e[0]), product(e...)) },
	record:   recordRSim,
}

// rsimTriangles is the number of triangles of a block.
const rsimTriangles = 8

const rsimTolerance = 1e-5

func recordRSim(t *tracer.Tracer, e []int) *Instance {
	n, steps := e[0], e[1]
	step := t.Module("rsim.ptx", rsimPTX).Kernel("rsim_step")
	rad := t.Alloc("rad", ir.F32, int64(steps)*int64(n), ir.Output)
	kij := t.Alloc("kij", ir.F32, int64(n)*int64(n), ir.Constant)
	delay := t.Alloc("delay", ir.I32, int64(n)*int64(n), ir.Constant)
	emission := t.Alloc("emission", ir.F32, int64(n), ir.Constant)
	shape := tracer.Linear(blocks(n, rsimTriangles), 32)
	shape.Block.Y = rsimTriangles
	for at := range steps {
		t.Launch(step, shape, rad, kij, delay, emission, at, n)
	}

	in := &Instance{Steps: steps}
	scene := sync.OnceValue(func() *reference.Triangles { return newScene(n) })
	in.writes(rad, rsimTolerance)
	starts(in, kij, func() []float32 { return scene().Factors })
	starts(in, delay, func() []int32 { return scene().Delays })
	starts(in, emission, func() []float32 { return scene().Emission })
	in.expect = func(int) [][]float64 { return [][]float64{reference.Radiosity(scene(), steps)} }
	return in
}

// newScene places triangles in a cube that light crosses in 8 steps along an edge. A triangle reflects 4/5 of the light that
// it receives, on average.
func newScene(n int) *reference.Triangles {
	factors, light := input.Of("rsim/kij", 1), input.Of("rsim/emission", 1)
	scale := float32(1.6 / float64(n))
	return &reference.Triangles{
		Emission: input.Array(n, light.Float32),
		Factors: input.Array(n*n, func(i int) float32 {
			if i/n == i%n {
				return 0
			}
			return scale * factors.Float32(i)
		}),
		Delays: delays(n),
	}
}

// delays are 1 plus the steps that light takes between two triangles.
func delays(n int) []int32 {
	at := input.Of("rsim/at", 1)
	return input.Array(n*n, func(i int) int32 {
		squared := 0.0
		for axis := range 3 {
			d := at.Float64(3*(i/n)+axis) - at.Float64(3*(i%n)+axis)
			squared += d * d
		}
		return 1 + int32(8*math.Sqrt(squared))
	})
}
