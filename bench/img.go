package bench

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/reprise-gpu/reprise/bench/reference"
	"github.com/reprise-gpu/reprise/cuda/kernels"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// img is the image pipeline: sharpen an image where a blurred copy of it has
// edges, and soften it elsewhere. Eleven kernels, numbered as they are launched:
//
//	1 blur small ──► 4 sobel ─────────────────────────────────────────┐
//	2 blur large ──► 5 sobel ─┬► 6 maximum ─┬► 8 extend ─► 10 combine ┴► 11 combine
//	                          └► 7 minimum ─┘                ▲
//	3 blur unsharpen ──► 9 unsharpen ────────────────────────┘
var img = &Workload{
	Name:  "img",
	Doc:   "image pipeline: 11 kernels, small grids that leave room to overlap",
	Sizes: []int{512, 1024},
	Unit:  "pixels per side",
	New:   newImg,
	Fits: func(n int) error {
		if n < 1 || n > 16384 {
			return fmt.Errorf("img takes images of 1 to 16384 pixels per side, not %d", n)
		}
		return nil
	},
}

// The grids stay at 32 blocks whatever the device, as the benchmark's authors
// chose on their largest GPU: they leave room for several kernels at once.
const (
	imgBlocks    = 32
	imgThreads   = 256
	imgSide      = 8 // of a two-dimensional block
	imgAmount    = 0.5
	imgTolerance = 1e-4
	imgSeed      = 20201
)

// imgBuffers are the arrays of the pipeline.
type imgBuffers struct {
	image, sharp, mix, out                    tracer.Buffer
	blurSmall, blurLarge, blurUnsharpen       tracer.Buffer
	maskSmall, maskLarge                      tracer.Buffer
	filterSmall, filterLarge, filterUnsharpen tracer.Buffer
	maximum, minimum                          tracer.Buffer
}

func newImg(dev device.Device, n int) (*Instance, error) {
	shapes, err := newImgShapes(n)
	if err != nil {
		return nil, err
	}
	t := tracer.New(dev, "img", tracer.Deferred)
	b := allocImg(t, int64(n))
	traceImg(t, b, &shapes, n)
	trace, err := t.Finish()
	if err != nil {
		return nil, err
	}
	// Tracing alone needs no data, and the reference takes seconds at 4800 x 4800.
	data := sync.OnceValue(func() *imgData { return newImgData(n) })
	return &Instance{
		Trace: trace,
		Reset: func() error { return b.reset(data()) },
		Check: func() (float64, error) {
			got := make([]float32, n*n)
			if err := tracer.Read(got, b.out); err != nil {
				return 0, err
			}
			diff, _ := reference.MaxAbsDiff(got, data().want.Pix)
			if diff <= imgTolerance {
				return diff, nil
			}
			return diff, reference.CompareImage("image3", got, data().want, imgTolerance)
		},
	}, nil
}

// imgData is what replays of one size start from and should end in.
type imgData struct {
	input   []float32
	filters reference.Filters
	want    *reference.Image
	poison  func(...tracer.Buffer) error
}

func newImgData(n int) *imgData {
	d := &imgData{input: randomImage(n * n), filters: reference.IMGFilters(), poison: poison(n * n)}
	d.want = reference.IMG(reference.ImageOf(n, n, d.input), d.filters).Image3
	return d
}

func allocImg(t *tracer.Tracer, n int64) *imgBuffers {
	plane := func(name string, role ir.Role) tracer.Buffer { return t.Alloc(name, ir.F32, n*n, role) }
	return &imgBuffers{
		image:           plane("image", ir.Input),
		sharp:           plane("image_unsharpen", ir.Temporary),
		mix:             plane("image2", ir.Temporary),
		out:             plane("image3", ir.Output),
		blurSmall:       plane("blurred_small", ir.Temporary),
		blurLarge:       plane("blurred_large", ir.Temporary),
		blurUnsharpen:   plane("blurred_unsharpen", ir.Temporary),
		maskSmall:       plane("mask_small", ir.Temporary),
		maskLarge:       plane("mask_large", ir.Temporary),
		filterSmall:     t.Alloc("kernel_small", ir.F32, 3*3, ir.Constant),
		filterLarge:     t.Alloc("kernel_large", ir.F32, 5*5, ir.Constant),
		filterUnsharpen: t.Alloc("kernel_unsharpen", ir.F32, 3*3, ir.Constant),
		maximum:         t.Alloc("maximum", ir.F32, 1, ir.InOut),
		minimum:         t.Alloc("minimum", ir.F32, 1, ir.InOut),
	}
}

// randomImage is uniform on [0, 1), the same on every machine.
func randomImage(pixels int) []float32 {
	r := rand.New(rand.NewPCG(imgSeed, 0))
	image := make([]float32, pixels)
	for i := range image {
		image[i] = r.Float32()
	}
	return image
}

// reset restores the inputs and the extrema and poisons all the rest. The
// benchmark itself clears the result and the extrema only.
func (b *imgBuffers) reset(d *imgData) error {
	return firstError(
		tracer.Write(b.image, d.input),
		tracer.Write(b.filterSmall, d.filters.Small.Float32()),
		tracer.Write(b.filterLarge, d.filters.Large.Float32()),
		tracer.Write(b.filterUnsharpen, d.filters.Unsharpen.Float32()),
		tracer.Write(b.maximum, []float32{0}),
		tracer.Write(b.minimum, []float32{0}),
		d.poison(b.blurSmall, b.blurLarge, b.blurUnsharpen, b.maskSmall, b.maskLarge, b.sharp, b.mix, b.out),
	)
}

// imgShapes are the launch shapes, checked by the kernels' own rules.
type imgShapes struct {
	blur3, blur5, sobel, extrema, extend, unsharpen, combine kernels.Shape
}

func newImgShapes(n int) (s imgShapes, err error) {
	set := func(to *kernels.Shape) func(kernels.Shape, error) {
		return func(shape kernels.Shape, e error) {
			*to = shape
			if err == nil {
				err = e
			}
		}
	}
	set(&s.blur3)(kernels.GaussianBlurShape(imgBlocks/2, imgSide, n, n, 3))
	set(&s.blur5)(kernels.GaussianBlurShape(imgBlocks/2, imgSide, n, n, 5))
	set(&s.sobel)(kernels.SobelShape(imgBlocks/2, imgSide, n, n))
	set(&s.extrema)(kernels.MaximumShape(imgBlocks, imgThreads, n*n))
	set(&s.extend)(kernels.ExtendShape(imgBlocks, imgThreads, n*n))
	set(&s.unsharpen)(kernels.UnsharpenShape(imgBlocks, imgThreads, n*n))
	set(&s.combine)(kernels.CombineShape(imgBlocks, imgThreads, n*n))
	return s, err
}

// traceImg issues the eleven launches in the order of the reference program.
func traceImg(t *tracer.Tracer, b *imgBuffers, s *imgShapes, n int) {
	blur, sobel, combine := loadKernel(t, "gaussian_blur"), loadKernel(t, "sobel"), loadKernel(t, "combine")
	amount := t.Param("amount", ir.F32, imgAmount)
	px := n * n

	t.Launch(blur, tracer.Shape(s.blur3), b.image, b.blurSmall, n, n, b.filterSmall, 3)
	t.Launch(blur, tracer.Shape(s.blur5), b.image, b.blurLarge, n, n, b.filterLarge, 5)
	t.Launch(blur, tracer.Shape(s.blur3), b.image, b.blurUnsharpen, n, n, b.filterUnsharpen, 3)
	t.Launch(sobel, tracer.Shape(s.sobel), b.blurSmall, b.maskSmall, n, n)
	t.Launch(sobel, tracer.Shape(s.sobel), b.blurLarge, b.maskLarge, n, n)
	t.Launch(loadKernel(t, "maximum"), tracer.Shape(s.extrema), b.maskLarge, b.maximum, px)
	t.Launch(loadKernel(t, "minimum"), tracer.Shape(s.extrema), b.maskLarge, b.minimum, px)
	t.Launch(loadKernel(t, "extend"), tracer.Shape(s.extend), b.maskLarge, b.minimum, b.maximum, px)
	t.Launch(loadKernel(t, "unsharpen"), tracer.Shape(s.unsharpen), b.image, b.blurUnsharpen, b.sharp, amount, px)
	t.Launch(combine, tracer.Shape(s.combine), b.sharp, b.blurLarge, b.maskLarge, b.mix, px)
	t.Launch(combine, tracer.Shape(s.combine), b.mix, b.blurSmall, b.maskSmall, b.out, px)
}
