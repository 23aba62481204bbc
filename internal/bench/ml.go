package bench

import (
	"fmt"
	"sync"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/internal/bench/reference"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// ml is an ensemble of two classifiers, naive Bayes and ridge regression on normalised features. Each is a chain, and
// both read x:
//
//	copy r1 ─────┐
//	             ├► nb_1 ─► nb_2 ─► nb_3 ─► nb_4 ─► softmax r1 ─┐
//	(x) ─► rr_1 ─┐                                              ├► argmax ─► copy r
//	             ├► rr_2 ─► rr_3 ─► softmax r2 ─────────────────┘
//	copy r2 ─────┘
//
// rr_1 is long and narrow: it has one thread for each of 200 features.
var ml = &Workload{
	Name: "ml", Title: "ML",
	Doc:     "ensemble of two classifiers: 10 kernels in two chains, one of them long and narrow",
	Unit:    "rows",
	Sizes:   []int{1000},
	Tiny:    256,
	Threads: 256,
	Blocks:  mlBlocks,
	trace:   traceML,
	Fits: func(n int) error {
		if n < 1 || n > 10_000_000 {
			return fmt.Errorf("ml takes 1 to 10 million rows, not %d", n)
		}
		return nil
	},
}

const (
	mlFeatures = 200
	mlClasses  = 10
	// For sums of 200 products near 500, and exponentials of their differences.
	mlTolerance = 1e-3
)

// mlBlocks is the rule of the benchmark suite. It gives few blocks, because rr_1 has no work for more.
func mlBlocks(sms int) int {
	if sms < 40 {
		return 32
	}
	return 64
}

// mlArrays holds the arrays of the ensemble.
type mlArrays struct {
	r1, r2, r                 array
	x, z, amax, l             tracer.Buffer
	logProb, coeff, intercept tracer.Buffer
}

func traceML(dev device.Device, p Params) (*Instance, error) {
	shapes, err := newMLShapes(&p)
	if err != nil {
		return nil, err
	}
	t := newProgram(dev, "ml", p)
	a := allocML(t)
	launchML(t, a, shapes)

	return finish(t, proof[*mlData]{
		data: func() *mlData { return newMLData(&p) },
		load: a.write,
		reset: func(d *mlData) error {
			return firstError(
				refill(t, a.r1, d.r1),
				refill(t, a.r2, d.r2),
				t.poison(a.z, a.amax, a.l, a.r.dev, a.r.host),
			)
		},
		check: a.check,
		hash:  (*mlData).hash,
	})
}

func allocML(t *program) *mlArrays {
	n := int64(t.params.Size)
	var a mlArrays
	a.r1 = t.transferred("r1", ir.F32, n*mlClasses, ir.InOut)
	a.x = t.Alloc("x", ir.I32, n*mlFeatures, ir.Constant)
	a.z = t.Alloc("z", ir.F32, n*mlFeatures, ir.Temporary)
	a.logProb = t.Alloc("nb_feat_log_prob", ir.F32, mlClasses*mlFeatures, ir.Constant)
	a.r2 = t.transferred("r2", ir.F32, n*mlClasses, ir.InOut)
	a.coeff = t.Alloc("ridge_coeff", ir.F32, mlClasses*mlFeatures, ir.Constant)
	a.amax = t.Alloc("nb_amax", ir.F32, n, ir.Temporary)
	a.l = t.Alloc("nb_l", ir.F32, n, ir.Temporary)
	a.intercept = t.Alloc("ridge_intercept", ir.F32, mlClasses, ir.Constant)
	a.r = t.transferred("r", ir.I32, n, ir.Output)
	return &a
}

// mlShapes holds the launch shapes, checked by the kernels' rules.
type mlShapes struct {
	rr1, nb1, rr2, nb2, nb3, rr3, nb4, softmax, argmax tracer.Shape
}

func newMLShapes(p *Params) (*mlShapes, error) {
	b, t, n := p.Blocks, p.Threads, p.Size
	var s shapes
	all := &mlShapes{
		rr1:     s.add(kernels.RR1Shape(b, t, n, mlFeatures)),
		nb1:     s.add(kernels.NB1Shape(b, t, n, mlFeatures, mlClasses)),
		rr2:     s.add(kernels.RR2Shape(b, t, n, mlFeatures, mlClasses)),
		nb2:     s.add(kernels.NB2Shape(b, t, n, mlClasses)),
		nb3:     s.add(kernels.NB3Shape(b, t, n, mlClasses)),
		rr3:     s.add(kernels.RR3Shape(b, t, n, mlClasses)),
		nb4:     s.add(kernels.NB4Shape(b, t, n, mlClasses)),
		softmax: s.add(kernels.SoftmaxShape(b, t, n, mlClasses)),
		argmax:  s.add(kernels.ArgmaxShape(b, t, n, mlClasses)),
	}
	return all, s.err
}

// launchML issues the launches in the order of the reference program. Each copy comes before the first kernel that
// needs it.
func launchML(t *program, a *mlArrays, s *mlShapes) {
	n := t.params.Size
	r1, r2 := a.r1.dev, a.r2.dev
	softmax := t.kernel("softmax")

	t.Launch(t.kernel("rr_1"), s.rr1, a.x, a.z, n, mlFeatures)
	t.upload(a.r1)
	t.Launch(t.kernel("nb_1"), s.nb1, a.x, a.logProb, r1, n, mlFeatures, mlClasses)
	t.upload(a.r2)
	t.Launch(t.kernel("rr_2"), s.rr2, a.z, a.coeff, r2, n, mlFeatures, mlClasses)
	t.Launch(t.kernel("nb_2"), s.nb2, r1, a.amax, n, mlClasses)
	t.Launch(t.kernel("nb_3"), s.nb3, r1, a.amax, a.l, n, mlClasses)
	t.Launch(t.kernel("rr_3"), s.rr3, r2, a.intercept, n, mlClasses)
	t.Launch(t.kernel("nb_4"), s.nb4, r1, a.l, n, mlClasses)
	t.Launch(softmax, s.softmax, r1, n, mlClasses)
	t.Launch(softmax, s.softmax, r2, n, mlClasses)
	t.Launch(t.kernel("argmax"), s.argmax, r1, r2, a.r.dev, n, mlClasses)
	t.download(a.r)
}

// write writes the data that replays do not change.
func (a *mlArrays) write(d *mlData) error {
	return firstError(
		tracer.Write(a.x, d.in.X),
		tracer.Write(a.logProb, d.in.LogProb),
		tracer.Write(a.coeff, d.in.Weights),
		tracer.Write(a.intercept, d.in.Intercepts),
	)
}

// check compares the classes and the scores of both classifiers. The classes alone would hide errors that change no
// row's maximum.
func (a *mlArrays) check(d *mlData) (largest float64, err error) {
	r := make([]int32, d.in.Rows)
	if err := tracer.Read(r, a.r.host); err != nil {
		return 0, err
	}
	largest, wrong := reference.CompareClasses("r", r, d.want().Scores, 2*mlTolerance)
	got := make([]float32, d.in.Rows*mlClasses)
	for _, c := range []struct {
		name string
		dev  tracer.Buffer
		want *reference.Image
	}{{"r1", a.r1.dev, d.want().Bayes}, {"r2", a.r2.dev, d.want().Ridge}} {
		if err := tracer.Read(got, c.dev); err != nil {
			return 0, err
		}
		diff, _ := reference.MaxAbsDiff(got, c.want.Pix)
		largest = max(largest, diff)
		if wrong == nil {
			wrong = reference.CompareImage(c.name, got, c.want, mlTolerance)
		}
	}
	return largest, wrong
}

// mlData holds the inputs and the expected results of replays of one size.
type mlData struct {
	in     reference.Observations
	r1, r2 []float32 // initial values of the scores: the class priors, and zeros
	want   func() *reference.Ensemble
}

func newMLData(p *Params) *mlData {
	uniform := func(name string, n int) []float32 {
		return input.Array(n, input.Of("ml/"+name, p.Seed).Float32)
	}
	x := input.Of("ml/x", p.Seed)
	d := &mlData{r1: make([]float32, p.Size*mlClasses), r2: make([]float32, p.Size*mlClasses)}
	d.in = reference.Observations{
		Rows:       p.Size,
		X:          input.Array(p.Size*mlFeatures, func(i int) int32 { return int32(x.Below(i, 10)) }),
		LogProb:    uniform("nb_feat_log_prob", mlClasses*mlFeatures),
		LogPrior:   uniform("nb_class_log_prior", mlClasses),
		Weights:    uniform("ridge_coeff", mlClasses*mlFeatures),
		Intercepts: uniform("ridge_intercept", mlClasses),
	}
	for i := range d.r1 {
		d.r1[i] = d.in.LogPrior[i%mlClasses]
	}
	d.want = sync.OnceValue(func() *reference.Ensemble { return reference.ML(&d.in) })
	return d
}

func (d *mlData) hash() uint64 {
	h := input.Hash(0, d.r1)
	h = input.Hash(h, d.in.X)
	h = input.Hash(h, d.in.LogProb)
	h = input.Hash(h, d.r2)
	h = input.Hash(h, d.in.Weights)
	return input.Hash(h, d.in.Intercepts)
}
