package bench

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/internal/bench/reference"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// img is an image pipeline: it sharpens an image where a blurred copy has edges, and softens it elsewhere. It has
// eleven kernels, numbered in launch order:
//
//	1 blur small ──► 4 sobel ─────────────────────────────────────────┐
//	2 blur large ──► 5 sobel ─┬► 6 maximum ─┬► 8 extend ─► 10 combine ┴► 11 combine
//	                          └► 7 minimum ─┘                ▲
//	3 blur unsharpen ──► 9 unsharpen ────────────────────────┘
//
// The extrema are cleared before 6 and 7, and the result is copied to the host after 11. The image and the filters
// stay on the device, as in the benchmark suite.
var img = &Workload{
	Name: "img", Title: "IMG",
	Doc:     "image pipeline: 11 kernels, small grids that leave room to overlap",
	Unit:    "pixels per side",
	Sizes:   []int{512, 1024},
	Tiny:    64,
	Threads: 256,
	Blocks:  imgBlocks,
	trace:   traceImg,
	Fits: func(n int) error {
		if n < 1 || n > 16384 {
			return fmt.Errorf("img takes images of 1 to 16384 pixels per side, not %d", n)
		}
		return nil
	},
}

const (
	imgSide      = 8 // side of two-dimensional blocks
	imgAmount    = 0.5
	imgTolerance = 1e-4
)

// imgBlocks returns fewer blocks than fill the device, as the authors of the suite chose for GPUs with 8, 22 and 56
// multiprocessors, so that several kernels run at once.
func imgBlocks(sms int) int {
	switch {
	case sms < 16:
		return 12
	case sms < 40:
		return 16
	}
	return 32
}

// imgBuffers holds the arrays of the pipeline.
type imgBuffers struct {
	image, sharp, mix                         tracer.Buffer
	out                                       array
	blurSmall, blurLarge, blurUnsharpen       tracer.Buffer
	maskSmall, maskLarge                      tracer.Buffer
	filterSmall, filterLarge, filterUnsharpen tracer.Buffer
	extrema                                   tracer.Buffer // the maximum, then the minimum
}

func traceImg(dev device.Device, p Params) (*Instance, error) {
	launch, err := newImgShapes(&p)
	if err != nil {
		return nil, err
	}
	t := newProgram(dev, "img", p)
	b := allocImg(t, int64(p.Size))
	launchImg(t, b, launch, p.Size)
	return finish(t, proof[*imgData]{
		data:  func() *imgData { return newImgData(p.Size, p.Seed) },
		load:  b.load,
		reset: func(*imgData) error { return b.reset(t) },
		check: b.check,
		hash:  (*imgData).hash,
	})
}

// imgData holds the inputs and the expected results of replays of one size.
type imgData struct {
	image   []float32
	filters reference.Filters
	want    *reference.Image
}

func newImgData(n int, seed uint64) *imgData {
	d := &imgData{image: make([]float32, n*n), filters: reference.IMGFilters()}
	pixels := input.Of("img/image", seed)
	for i := range d.image {
		d.image[i] = pixels.Float32(i)
	}
	d.want = reference.IMG(reference.ImageOf(n, n, d.image), d.filters).Image3
	return d
}

func (d *imgData) hash() (h uint64) {
	for _, array := range [][]float32{d.image, d.filters.Small.Float32(), d.filters.Large.Float32(), d.filters.Unsharpen.Float32()} {
		h = input.Hash(h, array)
	}
	return h
}

// allocImg allocates the arrays in the order of their first use.
func allocImg(t *program, n int64) *imgBuffers {
	plane := func(name string, role ir.Role) tracer.Buffer { return t.Alloc(name, ir.F32, n*n, role) }
	return &imgBuffers{
		extrema:         t.Alloc("extrema", ir.F32, 2, ir.Temporary),
		image:           plane("image", ir.Input),
		blurSmall:       plane("blurred_small", ir.Temporary),
		filterSmall:     t.Alloc("kernel_small", ir.F32, 3*3, ir.Constant),
		blurLarge:       plane("blurred_large", ir.Temporary),
		filterLarge:     t.Alloc("kernel_large", ir.F32, 5*5, ir.Constant),
		blurUnsharpen:   plane("blurred_unsharpen", ir.Temporary),
		filterUnsharpen: t.Alloc("kernel_unsharpen", ir.F32, 3*3, ir.Constant),
		maskSmall:       plane("mask_small", ir.Temporary),
		maskLarge:       plane("mask_large", ir.Temporary),
		sharp:           plane("image_unsharpen", ir.Temporary),
		mix:             plane("image2", ir.Temporary),
		out:             t.transferred("image3", ir.F32, n*n, ir.InOut), // the host resets it
	}
}

// load writes the inputs, which no kernel changes.
func (b *imgBuffers) load(d *imgData) error {
	return firstError(
		tracer.Write(b.image, d.image),
		tracer.Write(b.filterSmall, d.filters.Small.Float32()),
		tracer.Write(b.filterLarge, d.filters.Large.Float32()),
		tracer.Write(b.filterUnsharpen, d.filters.Unsharpen.Float32()),
	)
}

// reset poisons all other memory; in the benchmark suite the host clears the result.
func (b *imgBuffers) reset(t *program) error {
	return firstError(
		t.poison(b.extrema, b.blurSmall, b.blurLarge, b.blurUnsharpen, b.maskSmall, b.maskLarge, b.sharp, b.mix),
		t.poisonHome(b.out),
	)
}

// check compares the result.
func (b *imgBuffers) check(d *imgData) (float64, error) {
	got := make([]float32, len(d.want.Pix))
	if err := tracer.Read(got, b.out.host); err != nil {
		return 0, err
	}
	diff, _ := reference.MaxAbsDiff(got, d.want.Pix)
	if diff <= imgTolerance {
		return diff, nil
	}
	return diff, reference.CompareImage("image3", got, d.want, imgTolerance)
}

// imgShapes holds the launch shapes, checked by the kernels' rules.
type imgShapes struct {
	blur3, blur5, sobel, maximum, minimum, extend, unsharpen, combine tracer.Shape
}

func newImgShapes(p *Params) (*imgShapes, error) {
	n, px := p.Size, p.Size*p.Size
	var s shapes
	all := &imgShapes{
		blur3:     s.add(kernels.GaussianBlurShape(p.Blocks/2, imgSide, n, n, 3)),
		blur5:     s.add(kernels.GaussianBlurShape(p.Blocks/2, imgSide, n, n, 5)),
		sobel:     s.add(kernels.SobelShape(p.Blocks/2, imgSide, n, n)),
		maximum:   s.add(kernels.MaximumShape(p.Blocks, p.Threads, px)),
		minimum:   s.add(kernels.MinimumShape(p.Blocks, p.Threads, px)),
		extend:    s.add(kernels.ExtendShape(p.Blocks, p.Threads, px)),
		unsharpen: s.add(kernels.UnsharpenShape(p.Blocks, p.Threads, px)),
		combine:   s.add(kernels.CombineShape(p.Blocks, p.Threads, px)),
	}
	return all, s.err
}

// launchImg issues the eleven launches in the order of the reference program.
func launchImg(t *program, b *imgBuffers, s *imgShapes, n int) {
	blur, sobel, combine := t.kernel("gaussian_blur"), t.kernel("sobel"), t.kernel("combine")
	unsharpen := t.kernel("unsharpen")
	if t.params.AsSuite {
		unsharpen = t.kernel("unsharpen", unsharpenAsSuite)
	}
	amount := t.Param("amount", ir.F32, imgAmount)
	maximum, minimum := b.extrema.Slice(0, 1), b.extrema.Slice(1, 2)
	px := n * n

	t.Memset(b.extrema, 0)
	t.Launch(blur, s.blur3, b.image, b.blurSmall, n, n, b.filterSmall, 3)
	t.Launch(blur, s.blur5, b.image, b.blurLarge, n, n, b.filterLarge, 5)
	t.Launch(blur, s.blur3, b.image, b.blurUnsharpen, n, n, b.filterUnsharpen, 3)
	t.Launch(sobel, s.sobel, b.blurSmall, b.maskSmall, n, n)
	t.Launch(sobel, s.sobel, b.blurLarge, b.maskLarge, n, n)
	t.Launch(t.kernel("maximum"), s.maximum, b.maskLarge, maximum, px)
	t.Launch(t.kernel("minimum"), s.minimum, b.maskLarge, minimum, px)
	t.Launch(t.kernel("extend"), s.extend, b.maskLarge, minimum, maximum, px)
	t.Launch(unsharpen, s.unsharpen, b.image, b.blurUnsharpen, b.sharp, amount, px)
	t.Launch(combine, s.combine, b.sharp, b.blurLarge, b.maskLarge, b.mix, px)
	t.prefetch(b.out)
	t.Launch(combine, s.combine, b.mix, b.blurSmall, b.maskSmall, b.out.dev, px)
	t.download(b.out)
}
