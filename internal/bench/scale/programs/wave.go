package programs

import (
	_ "embed"
	"sync"

	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/internal/bench/reference"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

//go:embed wave.ptx
var wavePTX string

// wave is the wave equation on a rectangle. A replay is two steps, after which the buffers have their roles back:
//
//	before = step of now, before
//	now    = step of before, now
//
// Each step reads a row above and a row below the rows that it writes. The first step after the start at rest has
// coefficients of its own and runs on the host: now starts as the wave after it.
var wave = &Kind{
	Name:     "wave",
	Doc:      "the two-dimensional wave equation, two steps per replay",
	Tiny:     "37x70",
	extents:  []extent{{name: "rows", usual: 512, least: 1}, {name: "cols", least: 1}},
	elements: func(e []int) float64 { return product(e...) },
	record:   recordWave,
}

// courant is (dt/dy)^2 and (dt/dx)^2 for dt = 0.25 and distances of 1.
const courant = 0.0625

// waveTolerance is above the greatest error after 40 steps, 1.5e-6.
const waveTolerance = 1e-5

func recordWave(t *tracer.Tracer, e []int) *Instance {
	rows, cols := e[0], e[1]
	step := t.Module("wave.ptx", wavePTX).Kernel("wave_step")
	now := t.Alloc("now", ir.F32, int64(rows)*int64(cols), ir.InOut)
	before := t.Alloc("before", ir.F32, int64(rows)*int64(cols), ir.InOut)
	t.Launch(step, plane(rows, cols), before, now, 0, rows, rows, cols, courant, courant)
	t.Launch(step, plane(rows, cols), now, before, 0, rows, rows, cols, courant, courant)

	in := &Instance{Steps: 2}
	rest := sync.OnceValue(func() []float32 { return waveAtRest(rows, cols) })
	starts(in, now, func() []float32 { return waveStart(rest(), rows, cols) })
	starts(in, before, rest)
	in.compares(now, waveTolerance)
	in.compares(before, waveTolerance)
	in.expect = func(replays int) [][]float64 {
		before := &reference.Grid{Rows: rows, Cols: cols, U: wide(rest())}
		now := reference.WaveStart(before, courant, courant)
		for range 2 * replays {
			before, now = now, reference.Wave(before, now, courant, courant)
		}
		return [][]float64{now.U, before.U}
	}
	return in
}

// waveAtRest is a hill in the middle, on ground that is different at each point, so that no missing row goes unnoticed.
func waveAtRest(rows, cols int) []float32 {
	noise := input.Of("wave/u", 1)
	return input.Array(rows*cols, func(i int) float32 {
		y, x := centred(i/cols, rows), centred(i%cols, cols)
		slope := max(0, 1-(float64(y*y)+float64(x*x))) // the conversions prevent fused operations, which C++ does not make
		return float32(slope*slope) + noise.Float32(i)/16
	})
}

// centred maps the middles of n cells to -1 to 1, times 2 so that half of the cells are inside of it.
func centred(i, n int) float64 { return float64(4*i+2)/float64(n) - 2 }

// waveStart is the wave after its first step, in the arithmetic of the kernel but for fused operations.
func waveStart(u []float32, rows, cols int) []float32 {
	return input.Array(rows*cols, func(i int) float32 {
		row, col := i/cols, i%cols
		above, below := u[max(row-1, 0)*cols+col], u[min(row+1, rows-1)*cols+col]
		left, right := u[row*cols+max(col-1, 0)], u[row*cols+min(col+1, cols-1)]
		twice := u[i] + u[i]
		laplacian := float32(courant*float32(above+below-twice)) + float32(courant*float32(left+right-twice))
		return u[i] + float32(0.5*laplacian)
	})
}
