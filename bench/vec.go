package bench

import (
	"fmt"
	"math"
	"sync"

	"github.com/reprise-gpu/reprise/bench/reference"
	"github.com/reprise-gpu/reprise/cuda/kernels"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// vec is Vector Squares: two independent kernels and one that joins them.
//
//	square x ─┐
//	          ├─ reduce
//	square y ─┘
//
// res = sum of x[i]^2 - y[i]^2 with x[i] = 1/(i+1) and y[i] = 2/(i+1), which
// tends to -pi^2/2.
var vec = &Workload{
	Name:  "vec",
	Doc:   "Vector Squares: 3 kernels, two of them independent",
	Sizes: []int{1 << 20},
	Unit:  "elements",
	New:   newVec,
	Fits: func(n int) error {
		if n < 1 || n > 1<<30 {
			return fmt.Errorf("vec takes 1 to 2^30 elements, not %d", n)
		}
		return nil
	},
}

const (
	// The benchmark's authors chose blocks of one warp on their largest GPU. It
	// matters for the result too: reduce adds one float32 per warp to res, and with
	// 8 warps a block, most sums of small terms would vanish against the first
	// (an error of 1.2e-4 at 2^20 elements, against 2.8e-5).
	vecThreads     = 32
	vecBlocksPerSM = 8
	vecTolerance   = 1e-4
)

func newVec(dev device.Device, n int) (*Instance, error) {
	blocks := vecBlocksPerSM * dev.Info().Multiprocessors
	square, err := kernels.SquareShape(blocks, vecThreads, n)
	if err != nil {
		return nil, err
	}
	reduce, err := kernels.ReduceShape(blocks, vecThreads, n)
	if err != nil {
		return nil, err
	}

	t := tracer.New(dev, "vec", tracer.Deferred)
	squareKernel, reduceKernel := loadKernel(t, "square"), loadKernel(t, "reduce")
	x := t.Alloc("x", ir.F32, int64(n), ir.Input)
	y := t.Alloc("y", ir.F32, int64(n), ir.Input)
	x1 := t.Alloc("x1", ir.F32, int64(n), ir.Temporary)
	y1 := t.Alloc("y1", ir.F32, int64(n), ir.Temporary)
	res := t.Alloc("res", ir.F32, 1, ir.InOut)

	t.Launch(squareKernel, tracer.Shape(square), x, x1, n)
	t.Launch(squareKernel, tracer.Shape(square), y, y1, n)
	t.Launch(reduceKernel, tracer.Shape(reduce), x1, y1, res, n)

	trace, err := t.Finish()
	if err != nil {
		return nil, err
	}
	// Tracing alone needs no data.
	data := sync.OnceValue(func() (d vecData) {
		d.x, d.y = vecInputs(n)
		d.want = reference.VEC(d.x, d.y)
		d.poison = poison(n)
		return d
	})
	return &Instance{
		Trace: trace,
		Reset: func() error {
			d := data()
			return firstError(
				tracer.Write(x, d.x),
				tracer.Write(y, d.y),
				tracer.Write(res, []float32{0}),
				d.poison(x1, y1),
			)
		},
		Check: func() (float64, error) {
			var got [1]float32
			if err := tracer.Read(got[:], res); err != nil {
				return 0, err
			}
			want := data().want
			diff := math.Abs(float64(got[0]) - want)
			if !(diff <= vecTolerance) {
				return diff, fmt.Errorf("res = %v, want %v within %v", got[0], want, vecTolerance)
			}
			return diff, nil
		},
	}, nil
}

// vecData is what replays of one size start from and should end in.
type vecData struct {
	x, y   []float32
	want   float64
	poison func(...tracer.Buffer) error
}

// vecInputs are the deterministic inputs of the benchmark.
func vecInputs(n int) (x, y []float32) {
	x, y = make([]float32, n), make([]float32, n)
	for i := range n {
		x[i] = float32(1 / float64(i+1))
		y[i] = float32(2 / float64(i+1))
	}
	return x, y
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
