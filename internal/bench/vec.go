package bench

import (
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/internal/bench/reference"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// vec is Vector Squares: two independent kernels and one that joins them.
//
//	copy x ─► square x ─┐
//	copy y ─► square y ─┼─► reduce ─► copy res
//	        clear res ──┘
//
// res is the sum of x[i]^2 - y[i]^2 with x[i] = 1/(i+1) and y[i] = 2/(i+1), which tends to -pi^2/2.
var vec = &Workload{
	Name: "vec", Title: "VEC",
	Doc:     "Vector Squares: 3 kernels, two of them independent",
	Unit:    "elements",
	Sizes:   []int{1 << 20},
	Tiny:    1 << 12,
	Threads: 32, // see vecTolerance
	Blocks:  perSM,
	trace:   traceVec,
	Fits: func(n int) error {
		if n < 1 || n > 1<<30 {
			return fmt.Errorf("vec takes 1 to 2^30 elements, not %d", n)
		}
		return nil
	},
}

// vecTolerance is for blocks of one warp. reduce adds one float32 per warp to res. Each addition has an error of up
// to half a unit in the last place, 2.4e-7 at the magnitude of res. Blocks of 32 threads are therefore the most
// accurate (2.8e-5 at 2^20 elements on an H200, against 1.2e-4 with 256); larger blocks have the same tolerance per
// warp.
const vecTolerance = 1e-4

func traceVec(dev device.Device, p Params) (*Instance, error) {
	var s shapes
	square := s.add(kernels.SquareShape(p.Blocks, p.Threads, p.Size))
	reduce := s.add(kernels.ReduceShape(p.Blocks, p.Threads, p.Size))
	if s.err != nil {
		return nil, s.err
	}
	t := newProgram(dev, "vec", p)
	squareKernel, reduceKernel := t.kernel("square"), t.kernel("reduce")
	n := int64(p.Size)
	x := t.transferred("x", ir.F32, n, ir.Input)
	y := t.transferred("y", ir.F32, n, ir.Input)
	res := t.twinned("res", ir.F32, 1, ir.InOut)
	x1 := t.Alloc("x1", ir.F32, n, ir.Temporary)
	y1 := t.Alloc("y1", ir.F32, n, ir.Temporary)

	t.upload(x)
	t.upload(y)
	t.Memset(res.dev, 0)
	t.Launch(squareKernel, square, x.dev, x1, p.Size)
	t.Launch(squareKernel, square, y.dev, y1, p.Size)
	t.Launch(reduceKernel, reduce, x1, y1, res.dev, p.Size)
	t.Copy(res.host, res.dev)

	return finish(t, proof[*vecData]{
		data: func() *vecData { return newVecData(p.Size) },
		reset: func(d *vecData) error {
			return firstError(
				refill(t, x, d.x),
				refill(t, y, d.y),
				t.poison(x1, y1, res.dev, res.host),
			)
		},
		check: func(d *vecData) (float64, error) {
			var got [1]float32
			if err := tracer.Read(got[:], res.host); err != nil {
				return 0, err
			}
			tolerance := vecTolerance * float64(p.Threads/32)
			diff := math.Abs(float64(got[0]) - d.want)
			if !(diff <= tolerance) {
				return diff, fmt.Errorf("res = %v, want %v within %v", got[0], d.want, tolerance)
			}
			return diff, nil
		},
		hash: func(d *vecData) uint64 { return input.Hash(input.Hash(0, d.x), d.y) },
	})
}

// vecData holds the inputs and the expected result of replays of one size. The inputs are those of the benchmark
// suite, for any seed.
type vecData struct {
	x, y []float32
	want float64
}

func newVecData(n int) *vecData {
	d := &vecData{x: make([]float32, n), y: make([]float32, n)}
	for i := range n {
		d.x[i] = float32(1 / float64(i+1))
		d.y[i] = float32(2 / float64(i+1))
	}
	d.want = reference.VEC(d.x, d.y)
	return d
}
