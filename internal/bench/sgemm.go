package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/internal/bench/reference"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// sgemm is products of matrices that do not depend on each other, as several tenants with the same network request
// them. All matrices stay on the device.
//
//	gemm c0
//	gemm c1
//	...
//
// Its shapes are those of P. Jain et al., "Dynamic Space-Time Scheduling for GPU Inference", ML Systems Workshop of
// NeurIPS 2018: 256x128x1152, a convolution of ResNet-18 (the default), 512x1x512, a step of a recurrent network, and
// 256x256x256. Blocks of 128 x 64 elements make 4 blocks of the first, as the library of that paper does.
var sgemm = &Workload{
	Name: "sgemm", Title: "SGEMM",
	Doc:     "independent matrix products of one shape, a kernel each",
	Unit:    "products",
	Sizes:   []int{20},
	Tiny:    1,
	Threads: 256,
	Blocks:  perSM,
	Shaped:  true,
	Blocked: true,
	trace:   traceSGEMM,
	Fits: func(n int) error {
		if n < 1 || n > 1000 {
			return fmt.Errorf("sgemm takes 1 to 1000 products, not %d", n)
		}
		return nil
	},
}

// DefaultShape is the shape of the products of sgemm if none is given.
var DefaultShape = Shape{256, 128, 1152}

// sgemmArrays holds the matrices of one product.
type sgemmArrays struct{ a, b, c tracer.Buffer }

func traceSGEMM(dev device.Device, p Params) (*Instance, error) {
	if p.Shape == (Shape{}) {
		p.Shape = DefaultShape
	}
	product, err := wholeProduct(p.Shape, p.Kernel)
	if err != nil {
		return nil, err
	}
	t := newProgram(dev, "sgemm", p)
	kernel := t.kernel(product.kernel)
	arrays := make([]sgemmArrays, p.Size)
	elements := func(name string, i, rows, cols int, role ir.Role) tracer.Buffer {
		return t.Alloc(fmt.Sprint(name, i), ir.F32, int64(rows)*int64(cols), role)
	}
	for i := range arrays {
		arrays[i] = sgemmArrays{
			a: elements("a", i, p.Shape.K, p.Shape.M, ir.Constant),
			b: elements("b", i, p.Shape.K, p.Shape.N, ir.Constant),
			c: elements("c", i, p.Shape.M, p.Shape.N, ir.Output),
		}
		product.launch(t, kernel, arrays[i].c, arrays[i].a, arrays[i].b)
	}
	return finish(t, proof[[]sgemmData]{
		data: func() []sgemmData { return newSGEMMData(&p) },
		load: func(d []sgemmData) (err error) {
			for i := range arrays {
				err = firstError(err, tracer.Write(arrays[i].a, d[i].a), tracer.Write(arrays[i].b, d[i].b))
			}
			return err
		},
		reset: func([]sgemmData) (err error) {
			for i := range arrays {
				err = firstError(err, t.poison(arrays[i].c))
			}
			return err
		},
		check: func(d []sgemmData) (float64, error) { return checkSGEMM(&p, arrays, d) },
		hash: func(d []sgemmData) (h uint64) {
			for i := range d {
				h = input.Hash(input.Hash(h, d[i].a), d[i].b)
			}
			return h
		},
	})
}

// checkSGEMM compares elements of each product with the reference: all, or some if they would take too long.
func checkSGEMM(p *Params, arrays []sgemmArrays, d []sgemmData) (largest float64, err error) {
	s := p.Shape
	got := make([]float32, s.M*s.N)
	for i := range arrays {
		if err := tracer.Read(got, arrays[i].c); err != nil {
			return largest, err
		}
		for _, at := range someOf(len(got), maxTerms/len(arrays)/s.K, p.Seed+uint64(i)) {
			want, magnitude := reference.Product(s.M, s.N, s.K, d[i].a, d[i].b, at)
			off := math.Abs(float64(got[at]) - want)
			if !(off <= layerShare*magnitude) {
				return off, fmt.Errorf("c%d[%d][%d] = %v, want %v within %.3g", i, at/s.N, at%s.N, got[at], want, layerShare*magnitude)
			}
			largest = max(largest, off)
		}
	}
	return largest, nil
}

const (
	// maxTerms is the maximum number of products of two numbers that a check computes, a tenth of a second.
	maxTerms = 100_000_000
	// layerShare is the tolerance of a sum, relative to the sum of the magnitudes of its terms.
	layerShare = 1e-5
)

// someOf returns most indices below n, drawn with the seed, and the last; or all in order if there are not more.
func someOf(n, most int, seed uint64) []int {
	if n <= most {
		return input.Array(n, func(i int) int { return i })
	}
	draw := input.Of("some", seed)
	some := input.Array(max(1, most), func(i int) int { return int(draw.Below(i, uint32(n))) })
	some[0] = n - 1
	return some
}

// sgemmData holds the inputs of one product.
type sgemmData struct{ a, b []float32 }

func newSGEMMData(p *Params) []sgemmData {
	signed := func(name string, i, n int) []float32 {
		s := input.Of(fmt.Sprint("sgemm/", name, i), p.Seed)
		return input.Array(n, func(i int) float32 { return 2*s.Float32(i) - 1 })
	}
	return input.Array(p.Size, func(i int) sgemmData {
		return sgemmData{a: signed("a", i, p.Shape.K*p.Shape.M), b: signed("b", i, p.Shape.K*p.Shape.N)}
	})
}

// product is the launch of a product of matrices.
type product struct {
	kernels.Product
	kernel string
	shape  tracer.Shape
}

// wholeProduct returns the launch of a product with unsplit sums. Kernel "" means the one of kernelFor.
func wholeProduct(s Shape, kernel string) (*product, error) {
	if kernel == "" {
		kernel = kernelFor(s)
	}
	return newProduct(kernels.Product{M: s.M, N: s.N, K: s.K, Depth: s.K}, kernel, productKernels[kernel])
}

// kernelFor selects the kernel with the largest tiles that a product fills.
func kernelFor(s Shape) string {
	switch {
	case s.N < thinColumns:
		return "gemm_thin"
	case s.M >= 128 && s.N >= 64:
		return "gemm_128x64"
	}
	return "gemm_64x64"
}

// productKernels has the rule for the launch shape of each kernel that computes a product.
var productKernels = map[string]func(kernels.Product) (kernels.Shape, error){
	"gemm_128x64": kernels.Gemm128x64Shape,
	"gemm_64x64":  kernels.Gemm64x64Shape,
	"gemm_plain":  kernels.GemmPlainShape,
	"gemm_thin":   kernels.GemmThinShape,
}

// ProductKernels lists the kernels that Params.Kernel may name.
func ProductKernels() []string { return slices.Sorted(maps.Keys(productKernels)) }

// SlowBatch returns the kernel that stands for the batched product of a library that takes twice as long for a tile as
// a single product does. It has the tiles of the kernel for the shape. "" means that there is none.
func SlowBatch(s Shape) string {
	if s == (Shape{}) {
		s = DefaultShape
	}
	if kernelFor(s) == "gemm_128x64" {
		return "gemm_plain"
	}
	return ""
}

// thinColumns is the number of columns from which tiles are quicker than a sum for each element.
const thinColumns = 8

func newProduct(p kernels.Product, kernel string, rule func(kernels.Product) (kernels.Shape, error)) (*product, error) {
	shape, err := rule(p)
	return &product{p, kernel, tracer.Shape(shape)}, err
}

// launch launches the product c of a, transposed, and b.
func (p *product) launch(t *program, k *tracer.Kernel, c, a, b tracer.Buffer) {
	t.Helper()
	if p.kernel == "gemm_thin" {
		t.Launch(k, p.shape, c, a, b, p.M, p.N, p.K)
		return
	}
	t.Launch(k, p.shape, c, a, b, p.M, p.N, p.K, p.Depth)
}
