package programs

import (
	_ "embed"
	"sync"

	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/internal/bench/reference"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

//go:embed jacobi.ptx
var jacobiPTX string

// jacobi is Jacobi's method for Laplace's equation. A replay is an even number of steps, of which the last also leaves the
// squared norm of its change:
//
//	next = step of u
//	u    = step of next
//	...
//	u    = step of next, and a sum for each block
//	norm = the sum of these
//
// Each step reads a row above and a row below the rows that it writes. norm is what a loop tests.
var jacobi = &Kind{
	Name:     "jacobi",
	Doc:      "Jacobi's method on a square, with the norm of the change at the end of a replay",
	Tiny:     "70x4",
	extents:  []extent{{name: "side", usual: 512, least: 3}, {name: "steps per replay", usual: 10, least: 2, even: true}},
	elements: func(e []int) float64 { return product(e[0], e[0]) },
	record:   recordJacobi,
}

const jacobiTolerance = 1e-5

// normTolerance is that of the norm. Each change is a difference of two numbers below 1 that are rounded to 24 bits.
const normTolerance = 1e-4

func recordJacobi(t *tracer.Tracer, e []int) *Instance {
	side, steps := e[0], e[1]
	module := t.Module("jacobi.ptx", jacobiPTX)
	step, last, fold := module.Kernel("jacobi_step"), module.Kernel("jacobi_norm"), module.Kernel("jacobi_fold")
	shape := plane(side-2, side)
	sums := int64(shape.Grid.X) * int64(shape.Grid.Y)
	u := t.Alloc("u", ir.F32, int64(side)*int64(side), ir.InOut)
	next := t.Alloc("next", ir.F32, int64(side)*int64(side), ir.InOut)
	partial := t.Alloc("partial", ir.F32, sums, ir.Temporary)
	norm := t.Alloc("norm", ir.F64, 1, ir.Output)
	from, to := u, next
	for range steps - 1 {
		t.Launch(step, shape, to, from, 1, side-1, side)
		from, to = to, from
	}
	t.Launch(last, shape, to, from, partial, 1, side-1, side)
	t.Launch(fold, tracer.Shape{Grid: ir.Dim3{X: 1, Y: 1, Z: 1}, Block: shape.Block}, norm, partial, sums)

	in := &Instance{Steps: steps, Scalar: norm}
	start := sync.OnceValue(func() []float32 { return input.Array(side*side, input.Of("jacobi/u", 1).Float32) })
	starts(in, u, start)
	starts(in, next, start) // for its borders
	in.compares(u, jacobiTolerance)
	in.compares(next, jacobiTolerance)
	in.writes(norm, normTolerance)
	in.expect = func(replays int) [][]float64 {
		u, next := &reference.Grid{Rows: side, Cols: side, U: wide(start())}, (*reference.Grid)(nil)
		norm := 0.0
		for range steps * replays {
			next = u
			u, norm = reference.Jacobi(next)
		}
		return [][]float64{u.U, next.U, {norm}}
	}
	return in
}
