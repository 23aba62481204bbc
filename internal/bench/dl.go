package bench

import (
	"fmt"
	"math"
	"sync"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/internal/bench/reference"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// dl is a siamese network: two images pass through convolution, pooling and convolution, and a dense layer reduces
// both to one number.
//
//	copy x ─► conv2d ─► mean_pooling ─► conv2d ─┐
//	                                            ├► concat ─► dot_product ─► copy res
//	copy y ─► conv2d ─► mean_pooling ─► conv2d ─┘               ▲
//	                                                clear res ──┘
var dl = &Workload{
	Name: "dl", Title: "DL",
	Doc:     "siamese network: 8 kernels in two chains that join",
	Unit:    "pixels per side",
	Sizes:   []int{300},
	Tiny:    100,
	Threads: 256,
	Blocks:  dlBlocks,
	trace:   traceDL,
	Fits: func(n int) error {
		if n < 20 || n > 32000 {
			return fmt.Errorf("dl takes images of 20 to 32000 pixels per side, not %d", n)
		}
		return nil
	},
}

const (
	dlDiameter = 3 // of the convolutions, with stride 2
	dlStride   = 2
	dlFilters1 = 8
	dlFilters2 = 16
	dlPool     = 5 // side of the pooled squares
	dlSide     = 8 // side of two-dimensional blocks
	dlSide3D   = 4

	dlTolerance = 1e-4 // of features, sums of 72 products near 1
	// The dense layer adds terms of both signs, so its tolerance is relative to their magnitudes.
	dlShare = 1e-6
)

// dlBlocks is the rule of the benchmark suite.
func dlBlocks(sms int) int {
	if sms < 16 {
		return 16
	}
	return perSM(sms)
}

// dlLayers holds the windows of the layers and the number of features.
type dlLayers struct {
	conv1, pool, conv2 kernels.Window
	features           int // of one image
}

func newDLLayers(n int) (l dlLayers) {
	l.conv1 = kernels.Window{Rows: n, Cols: n, Channels: 1, Diameter: dlDiameter, Stride: dlStride}
	rows, cols := l.conv1.Out()
	l.pool = kernels.Window{Rows: rows, Cols: cols, Channels: dlFilters1, Diameter: dlPool, Stride: dlPool}
	rows, cols = l.pool.Out()
	l.conv2 = kernels.Window{Rows: rows, Cols: cols, Channels: dlFilters1, Diameter: dlDiameter, Stride: dlStride}
	rows, cols = l.conv2.Out()
	l.features = rows * cols * dlFilters2
	return l
}

// dlBranch holds the arrays of one network.
type dlBranch struct {
	image                  array
	convolved, pooled, out tracer.Buffer // x1, x11 and x2
	weights1, weights2     tracer.Buffer
}

// dlArrays holds the arrays of both networks and of the dense layer.
type dlArrays struct {
	x, y     dlBranch
	res      array
	z, dense tracer.Buffer
}

func traceDL(dev device.Device, p Params) (*Instance, error) {
	layers := newDLLayers(p.Size)
	shapes, err := newDLShapes(&p, &layers)
	if err != nil {
		return nil, err
	}
	t := newProgram(dev, "dl", p)
	a := allocDL(t, &layers)
	launchDL(t, a, &layers, shapes)

	return finish(t, proof[*dlData]{
		data: func() *dlData { return newDLData(&p, layers.features) },
		load: a.write,
		reset: func(d *dlData) error {
			return firstError(
				refill(t, a.x.image, d.x.image),
				refill(t, a.y.image, d.y.image),
				t.poison(a.res.dev, a.res.host,
					a.x.convolved, a.x.pooled, a.x.out, a.y.convolved, a.y.pooled, a.y.out, a.z),
			)
		},
		check: a.check,
		hash:  (*dlData).hash,
	})
}

func allocDL(t *program, l *dlLayers) *dlArrays {
	var a dlArrays
	f32 := func(name string, n int, role ir.Role) tracer.Buffer { return t.Alloc(name, ir.F32, int64(n), role) }
	places := func(w kernels.Window) int {
		rows, cols := w.Out()
		return rows * cols
	}
	network := func(b *dlBranch, name string, first, second int) {
		b.convolved = f32(name+"1", places(l.conv1)*dlFilters1, ir.Temporary)
		b.weights1 = f32(fmt.Sprintf("kernel_%d", first), dlWeights1, ir.Constant)
		b.pooled = f32(name+"11", places(l.pool)*dlFilters1, ir.Temporary)
		b.out = f32(name+"2", l.features, ir.Temporary)
		b.weights2 = f32(fmt.Sprintf("kernel_%d", second), dlWeights2, ir.Constant)
	}
	pixels := int64(t.params.Size) * int64(t.params.Size)
	a.x.image = t.transferred("x", ir.F32, pixels, ir.Input)
	a.res = t.twinned("res", ir.F32, 1, ir.InOut)
	network(&a.x, "x", 1, 2)
	a.y.image = t.transferred("y", ir.F32, pixels, ir.Input)
	network(&a.y, "y", 3, 4)
	a.z = f32("z", 2*l.features, ir.Output) // read by check
	a.dense = f32("dense_weights", 2*l.features, ir.Constant)
	return &a
}

const (
	dlWeights1 = dlFilters1 * dlDiameter * dlDiameter
	dlWeights2 = dlFilters2 * dlDiameter * dlDiameter * dlFilters1
)

// dlShapes holds the launch shapes, checked by the kernels' rules.
type dlShapes struct{ conv1, pool, conv2, concat, dot tracer.Shape }

// newDLShapes covers each layer's output with blocks: at most half the number of blocks along each axis, a quarter
// for pooling. The C++ programs of the suite launch half the number along all three axes of pooling, eleven million
// blocks on its largest GPU.
func newDLShapes(p *Params, l *dlLayers) (*dlShapes, error) {
	plane, volume := max(1, p.Blocks/2), max(1, p.Blocks/4)
	var s shapes
	pool, err := kernels.MeanPoolingShape(volume, dlSide3D, l.pool)
	if p.AsSuite {
		pool = poolAsSuite(pool, volume)
	}
	all := &dlShapes{
		conv1:  s.add(kernels.Conv2DShape(plane, dlSide, l.conv1, dlFilters1)),
		pool:   s.add(pool, err),
		conv2:  s.add(kernels.Conv2DShape(plane, dlSide, l.conv2, dlFilters2)),
		concat: s.add(kernels.ConcatShape(p.Blocks, p.Threads, l.features)),
		dot:    s.add(kernels.DotProductShape(p.Blocks, p.Threads, 2*l.features)),
	}
	return all, s.err
}

// launchDL issues one network after the other, each after the copy of its image.
func launchDL(t *program, a *dlArrays, l *dlLayers, s *dlShapes) {
	conv, pool := t.kernel("conv2d"), t.kernel("mean_pooling")
	convolve := func(shape tracer.Shape, out, in, weights tracer.Buffer, w kernels.Window, filters int) {
		t.Helper()
		t.Launch(conv, shape, out, in, weights, w.Rows, w.Cols, w.Channels, w.Diameter, filters, w.Stride)
	}
	network := func(b *dlBranch) {
		t.Helper()
		convolve(s.conv1, b.convolved, b.image.dev, b.weights1, l.conv1, dlFilters1)
		t.Launch(pool, s.pool, b.pooled, b.convolved, l.pool.Rows, l.pool.Cols, l.pool.Channels, l.pool.Diameter, l.pool.Stride)
		convolve(s.conv2, b.out, b.pooled, b.weights2, l.conv2, dlFilters2)
	}
	t.upload(a.x.image)
	t.Memset(a.res.dev, 0)
	network(&a.x)
	t.upload(a.y.image)
	network(&a.y)
	t.Launch(t.kernel("concat"), s.concat, a.z, a.x.out, a.y.out, l.features)
	t.Launch(t.kernel("dot_product"), s.dot, a.z, a.dense, a.res.dev, 2*l.features)
	t.Copy(a.res.host, a.res.dev)
}

// write writes the data that replays do not change.
func (a *dlArrays) write(d *dlData) error {
	return firstError(
		tracer.Write(a.x.weights1, d.x.weights1),
		tracer.Write(a.x.weights2, d.x.weights2),
		tracer.Write(a.y.weights1, d.y.weights1),
		tracer.Write(a.y.weights2, d.y.weights2),
		tracer.Write(a.dense, d.dense),
	)
}

// check compares the number and the features that it is computed from, because an error of a few features hardly
// changes the number.
func (a *dlArrays) check(d *dlData) (float64, error) {
	var res [1]float32
	z := make([]float32, len(d.dense))
	if err := firstError(tracer.Read(res[:], a.res.host), tracer.Read(z, a.z)); err != nil {
		return 0, err
	}
	want := d.want()
	diff, _ := reference.MaxAbsDiff(z, want.features)
	if err := reference.Compare("z", z, want.features, dlTolerance); err != nil {
		return diff, err
	}
	off := math.Abs(float64(res[0]) - want.res)
	tolerance := dlShare * want.magnitude
	if !(off <= tolerance) {
		return max(diff, off), fmt.Errorf("res = %v, want %v within %.3g", res[0], want.res, tolerance)
	}
	return max(diff, off), nil
}

// dlData holds the inputs and the expected results of replays of one size.
type dlData struct {
	x, y  dlNetwork
	dense []float32
	want  func() dlResult
}

// dlNetwork holds an image and the weights of its network.
type dlNetwork struct{ image, weights1, weights2 []float32 }

type dlResult struct {
	features       []float64
	res, magnitude float64
}

func newDLData(p *Params, features int) *dlData {
	uniform := func(name string, n int) []float32 { return input.Array(n, input.Of("dl/"+name, p.Seed).Float32) }
	signed := func(name string, n int) []float32 {
		s := input.Of("dl/"+name, p.Seed)
		return input.Array(n, func(i int) float32 { return 2*s.Float32(i) - 1 })
	}
	pixels := p.Size * p.Size
	d := &dlData{
		x:     dlNetwork{uniform("x", pixels), signed("kernel_1", dlWeights1), signed("kernel_2", dlWeights2)},
		y:     dlNetwork{uniform("y", pixels), signed("kernel_3", dlWeights1), signed("kernel_4", dlWeights2)},
		dense: signed("dense_weights", 2*features),
	}
	for i := range d.dense {
		d.dense[i] /= float32(2 * features)
	}
	d.want = sync.OnceValue(func() (r dlResult) {
		r.features, r.res, r.magnitude = reference.DL(d.x.branch(p.Size), d.y.branch(p.Size), d.dense)
		return r
	})
	return d
}

func (n *dlNetwork) branch(size int) reference.Branch {
	return reference.Branch{Image: reference.VolumeOf(size, size, 1, n.image), Weights1: n.weights1, Weights2: n.weights2}
}

func (d *dlData) hash() uint64 {
	h := uint64(0)
	for _, array := range [][]float32{d.x.image, d.x.weights1, d.x.weights2, d.y.image, d.y.weights1, d.y.weights2, d.dense} {
		h = input.Hash(h, array)
	}
	return h
}
