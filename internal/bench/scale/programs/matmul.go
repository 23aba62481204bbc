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

//go:embed matmul.ptx
var matmulPTX string

// matmul is products of matrices, each of a constant matrix and the result of the last product:
//
//	c = a b
//	b = d c
//
// A panel of rows of a result needs the same rows of the constant matrix, and the whole of the other.
var matmul = &Kind{
	Name:     "matmul",
	Doc:      "two products of matrices per replay, the second of the first",
	Tiny:     "130x70x67",
	extents:  []extent{{name: "m", usual: 512, least: 1}, {name: "n", least: 1}, {name: "k", least: 1}},
	elements: func(e []int) float64 { return max(product(e[0], e[1]), product(e[1], e[2]), product(e[0], e[2])) },
	record:   recordMatmul,
}

// matmulTile is the number of rows and columns of a block.
const matmulTile = 64

const matmulTolerance = 1e-5

func recordMatmul(t *tracer.Tracer, e []int) *Instance {
	m, n, k := e[0], e[1], e[2]
	kernel := t.Module("matmul.ptx", matmulPTX).Kernel("matmul")
	matrix := func(name string, rows, cols int, role ir.Role) tracer.Buffer {
		return t.Alloc(name, ir.F32, int64(rows)*int64(cols), role)
	}
	a, b := matrix("a", m, k, ir.Constant), matrix("b", k, n, ir.InOut)
	c, d := matrix("c", m, n, ir.Output), matrix("d", k, m, ir.Constant)
	t.Launch(kernel, panels(m, n), c, a, b, m, n, k)
	t.Launch(kernel, panels(k, n), b, d, c, k, n, m)

	in := &Instance{Steps: 1}
	data := sync.OnceValue(func() [3][]float32 {
		return [3][]float32{factor("matmul/a", m, k), input.Array(k*n, input.Of("matmul/b", 1).Float32), factor("matmul/d", k, m)}
	})
	starts(in, a, func() []float32 { return data()[0] })
	starts(in, b, func() []float32 { return data()[1] })
	starts(in, d, func() []float32 { return data()[2] })
	in.writes(c, matmulTolerance)
	in.compares(b, matmulTolerance)
	in.expect = func(replays int) [][]float64 {
		a, b, d := wide(data()[0]), wide(data()[1]), wide(data()[2])
		var c []float64
		for range replays {
			c = reference.Multiply(a, b, m, n, k)
			b = reference.Multiply(d, c, k, n, m)
		}
		return [][]float64{c, b}
	}
	return in
}

// panels is the shape of a launch with a block for each 64 x 64 elements of a result.
func panels(rows, cols int) tracer.Shape {
	return tracer.Shape{Grid: ir.Dim3{X: blocks(cols, matmulTile), Y: blocks(rows, matmulTile), Z: 1}, Block: ir.Dim3{X: 16, Y: 16, Z: 1}}
}

// factor is a constant matrix whose products keep the magnitude of the other factor: elements have mean 0 and variance
// 1 / cols.
func factor(name string, rows, cols int) []float32 {
	random, scale := input.Of(name, 1), float32(math.Sqrt(12/float64(cols)))
	return input.Array(rows*cols, func(i int) float32 { return scale * (random.Float32(i) - 0.5) })
}
