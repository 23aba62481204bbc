package bench

import (
	"math"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/reference"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// layers is a network being traced. Its layers are collected first, because the size of the workspaces follows from all
// of them, and then launched in order.
//
// A convolution is three launches: im2col writes its windows as the columns of a matrix, a gemm multiplies this matrix
// with the weights, and a third adds the bias and clamps. Convolutions of single pixels need no im2col. Batch norm is
// folded into weights and bias. The images of a batch make the matrix wider.
type layers struct {
	*program
	shapes
	sms  int
	list []*layer
	main workspace
	side workspace // of the convolutions of shortcuts, which run beside the main path
	used map[string]*tracer.Kernel
}

// tensor holds the activations between layers, ordered by channel, image, row and column.
type tensor struct {
	tracer.Buffer
	channels, rows, cols int
}

// layer is a layer with what is needed to check it.
type layer struct {
	name          string
	in, out       tensor
	add           *tensor       // is added to the sums of a convolution, or nil
	weights, bias tracer.Buffer // of convolutions
	filter        filter        // of convolutions
	is            reference.Layer
	launch        func()
}

// filter is a convolution.
type filter struct {
	channels, side, stride int     // channels that it makes, extent and stride of its window
	low, high              float64 // the results are clamped to this range
	gain                   float64 // the variance of the sums is that of the input times gain/2
	depthwise              bool
}

var infinity = math.Inf(1)

// relu is a convolution followed by a ReLU, and unclamped one that nothing follows.
func relu(channels, side, stride int) filter {
	return filter{channels: channels, side: side, stride: stride, high: infinity, gain: 2}
}

func unclamped(channels, side, stride int) filter {
	return filter{channels: channels, side: side, stride: stride, low: -infinity, high: infinity, gain: 2}
}

// relu6 is a convolution followed by a ReLU that is cut at 6.
func relu6(channels, side, stride int) filter {
	return filter{channels: channels, side: side, stride: stride, high: 6, gain: 2}
}

// scaled returns the filter with another gain.
func (f filter) scaled(gain float64) filter {
	f.gain = gain
	return f
}

// fan is the number of terms of a sum, for an input with that many channels.
func (f filter) fan(channels int) int {
	if f.depthwise {
		channels = 1
	}
	return channels * f.side * f.side
}

// window is the window of the filter over the images of x. A filter with stride 1 keeps the extent.
func (t *layers) window(x tensor, f filter) kernels.PaddedWindow {
	return kernels.PaddedWindow{
		Channels: x.channels, Images: t.params.Batch, Rows: x.rows, Cols: x.cols, Side: f.side, Stride: f.stride, Pad: f.side / 2,
	}
}

// workspace is memory for intermediate results of convolutions that run one after the other: the columns of im2col, and
// the sums of a gemm.
type workspace struct {
	columns, sums       tracer.Buffer
	maxColumns, maxSums int // floats that the convolutions need
}

func (w *workspace) need(columns, sums int) {
	w.maxColumns, w.maxSums = max(w.maxColumns, columns), max(w.maxSums, sums)
}

// newLayers begins a network with images of 3 channels.
func newLayers(dev device.Device, name string, p Params) (t *layers, image tensor, input array) {
	t = &layers{program: newProgram(dev, name, p), sms: dev.Info().Multiprocessors, used: map[string]*tracer.Kernel{}}
	input = t.transferred("image", ir.F32, int64(3*p.Batch)*int64(p.Size)*int64(p.Size), ir.Input)
	return t, tensor{input.dev, 3, p.Size, p.Size}, input
}

// output allocates the output of a layer. Checks read it.
func (t *layers) output(name string, channels, rows, cols int) tensor {
	n := int64(channels) * int64(t.params.Batch) * int64(rows) * int64(cols)
	return tensor{t.Alloc(name, ir.F32, n, ir.Output), channels, rows, cols}
}

// use returns a kernel, which it loads once.
func (t *layers) use(name string) *tracer.Kernel {
	if t.used[name] == nil {
		t.used[name] = t.kernel(name)
	}
	return t.used[name]
}

// conv adds a convolution of x.
func (t *layers) conv(name string, x tensor, f filter) tensor {
	return t.convIn(&t.main, name, x, nil, f)
}

// residual adds a convolution of x, to whose sums y is added.
func (t *layers) residual(name string, x, y tensor, f filter) tensor {
	return t.convIn(&t.main, name, x, &y, f)
}

// shortcut adds a convolution of x that runs beside those of the main path.
func (t *layers) shortcut(name string, x tensor, f filter) tensor {
	return t.convIn(&t.side, name, x, nil, f)
}

func (t *layers) convIn(w *workspace, name string, x tensor, add *tensor, f filter) tensor {
	window := t.window(x, f)
	rows, cols := window.Out()
	places, k := t.params.Batch*rows*cols, f.fan(x.channels)
	l := t.filtered(name, x, add, f, rows, cols)

	product, err := layerProduct(Shape{f.channels, places, k}, t.sms)
	t.shapes.add(kernels.Shape{}, err)
	pixels := f.side == 1 && f.stride == 1
	columns := 0
	if !pixels {
		columns = k * places
	}
	w.need(columns, product.Parts()*f.channels*places)

	im2col := t.shapes.add(kernels.Im2colShape(t.params.Blocks, t.params.Threads, window))
	bias := t.shapes.add(kernels.BiasClampShape(t.params.Blocks, t.params.Threads, product.Parts(), f.channels, places))
	l.launch = func() {
		b := x.Buffer
		if !pixels {
			b = w.columns
			t.Launch(t.use("im2col"), im2col, b, x.Buffer, x.channels, t.params.Batch, x.rows, x.cols, f.side, f.stride, window.Pad)
		}
		product.launch(t.program, t.use(product.kernel), w.sums, l.weights, b)
		numbers := []any{product.Parts(), f.channels, places, float32(f.low), float32(f.high)}
		if add == nil {
			t.Launch(t.use("bias_clamp"), bias, append([]any{l.out.Buffer, w.sums, l.bias}, numbers...)...)
		} else {
			t.Launch(t.use("bias_add"), bias, append([]any{l.out.Buffer, w.sums, l.bias, add.Buffer}, numbers...)...)
		}
	}
	return l.out
}

// depthwise adds a convolution of each channel of x with a filter of its own.
func (t *layers) depthwise(name string, x tensor, f filter) tensor {
	f.depthwise = true
	window := t.window(x, f)
	rows, cols := window.Out()
	l := t.filtered(name, x, nil, f, rows, cols)
	shape := t.shapes.add(kernels.DepthwiseShape(t.params.Blocks, t.params.Threads, window))
	l.launch = func() {
		t.Launch(t.use("depthwise"), shape, l.out.Buffer, x.Buffer, l.weights, l.bias, x.channels, t.params.Batch, x.rows, x.cols, f.stride,
			float32(f.low), float32(f.high))
	}
	return l.out
}

// filtered adds a convolution without its launches.
func (t *layers) filtered(name string, x tensor, add *tensor, f filter, rows, cols int) *layer {
	l := &layer{name: name, in: x, add: add, filter: f}
	l.weights = t.Alloc(name+".weights", ir.F32, int64(f.fan(x.channels))*int64(f.channels), ir.Constant)
	l.bias = t.Alloc(name+".bias", ir.F32, int64(f.channels), ir.Constant)
	l.out = t.output(name, f.channels, rows, cols)
	t.list = append(t.list, l)
	return l
}

// pool adds the greatest pixel of each place of a window.
func (t *layers) pool(name string, x tensor, side, stride int) tensor {
	window := t.window(x, filter{side: side, stride: stride})
	rows, cols := window.Out()
	l := t.plain(name, x, &reference.MaxPool{Side: side, Stride: stride, Pad: window.Pad}, t.output(name, x.channels, rows, cols))
	shape := t.shapes.add(kernels.MaxPoolingShape(t.params.Blocks, t.params.Threads, window))
	l.launch = func() {
		t.Launch(t.use("max_pooling"), shape, l.out.Buffer, x.Buffer, x.channels*t.params.Batch, x.rows, x.cols, side, stride, window.Pad)
	}
	return l.out
}

// mean adds the mean of each channel.
func (t *layers) mean(name string, x tensor) tensor {
	l := t.plain(name, x, reference.Mean{}, t.output(name, x.channels, 1, 1))
	planes, places := x.channels*t.params.Batch, x.rows*x.cols
	shape := t.shapes.add(kernels.PlaneMeanShape(t.params.Blocks, t.params.Threads, planes, places))
	l.launch = func() { t.Launch(t.use("plane_mean"), shape, l.out.Buffer, x.Buffer, planes, places) }
	return l.out
}

// softmax adds the softmax of x, which has one pixel per channel.
func (t *layers) softmax(name string, x tensor) array {
	to := t.twinned(name, ir.F32, int64(x.channels)*int64(t.params.Batch), ir.Output)
	l := t.plain(name, x, reference.Softmax{}, tensor{to.dev, x.channels, 1, 1})
	shape := t.shapes.add(kernels.SoftmaxColumnsShape(t.params.Blocks, x.channels, t.params.Batch))
	l.launch = func() { t.Launch(t.use("softmax_columns"), shape, l.out.Buffer, x.Buffer, x.channels, t.params.Batch) }
	return to
}

// plain adds a layer without weights.
func (t *layers) plain(name string, x tensor, is reference.Layer, out tensor) *layer {
	l := &layer{name: name, in: x, out: out, is: is}
	t.list = append(t.list, l)
	return l
}

// launch allocates the workspaces and launches the layers.
func (t *layers) launch(image, result array) {
	allocate := func(b *tracer.Buffer, name string, n int) {
		if n > 0 {
			*b = t.Alloc(name, ir.F32, int64(n), ir.Temporary)
		}
	}
	allocate(&t.main.columns, "columns", t.main.maxColumns)
	allocate(&t.main.sums, "sums", t.main.maxSums)
	allocate(&t.side.columns, "shortcut.columns", t.side.maxColumns)
	allocate(&t.side.sums, "shortcut.sums", t.side.maxSums)
	t.upload(image)
	for _, l := range t.list {
		l.launch()
	}
	t.download(result)
}

// layerProduct selects the kernel for a convolution. Large tiles have the most arithmetic for each byte, but leave
// multiprocessors idle if there are few. Small tiles with split sums fill them; the launch that adds the bias also adds
// the parts.
func layerProduct(s Shape, sms int) (*product, error) {
	if s.N < thinColumns || tilesOf(s, 128, 64) >= manyTiles*sms {
		return wholeProduct(s, "")
	}
	parts := max(1, min(partsPerSM*sms/tilesOf(s, 64, 64), s.K/minDepth))
	depth := (s.K + parts - 1) / parts
	return newProduct(kernels.Product{M: s.M, N: s.N, K: s.K, Depth: (depth + 31) / 32 * 32}, "gemm_64x64", kernels.Gemm64x64Shape)
}

const (
	manyTiles  = 2  // large tiles per multiprocessor from which they are better
	partsPerSM = 2  // small tiles per multiprocessor up to which sums are split
	minDepth   = 32 // terms of a part
)

// tilesOf is the number of tiles that cover the product.
func tilesOf(s Shape, rows, cols int) int { return (s.M + rows - 1) / rows * ((s.N + cols - 1) / cols) }
