package network

import (
	"fmt"
	"math"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/unit"
	"github.com/reprise-gpu/reprise/ir"
)

// tape records the operations of a network in call order.
type tape struct {
	device *model.Profile
	ops    []ir.Op
	macs   float64 // multiply-adds so far
	params float64 // weights so far
}

// tensor is the output of an operation: channels of height by width floats, for one image.
type tensor struct {
	by      ir.OpID
	c, h, w int
}

func (x tensor) bytes() float64 { return 4 * float64(x.c) * float64(x.h) * float64(x.w) }

func (x tensor) String() string { return fmt.Sprintf("%dx%dx%d", x.c, x.h, x.w) }

// image adds the copy of the input to the device: three channels of n by n pixels.
func (t *tape) image(n int) tensor {
	x := tensor{c: 3, h: n, w: n}
	seconds := x.bytes() / (t.device.LinkGBps * 1e9)
	return t.op("input", x, nanoseconds(seconds)+int64(t.device.CopyInLatency/model.Nanosecond), nil)
}

// kernel adds an operation that reads its inputs and weights, and returns a tensor with out's shape.
func (t *tape) kernel(what string, out tensor, macs, weights float64, in ...tensor) tensor {
	bytes := out.bytes() + 4*weights
	for _, x := range in {
		bytes += x.bytes()
	}
	t.macs += macs
	t.params += weights
	return t.op(what, out, t.took(macs, bytes), in)
}

func (t *tape) op(what string, out tensor, ns int64, in []tensor) tensor {
	out.by = ir.OpID(len(t.ops))
	op := ir.Op{Kind: ir.KindEmpty, Cost: ns, Label: what + " " + out.String()}
	for _, x := range in {
		op.After = append(op.After, x.by)
	}
	slices.Sort(op.After)
	op.After = slices.Compact(op.After)
	t.ops = append(t.ops, op)
	return out
}

// took returns the duration by the roofline model (Williams et al., CACM 2009) plus the start of a kernel.
func (t *tape) took(macs, bytes float64) int64 {
	p := t.device
	rate := float64(p.SMs) * p.Lanes[unit.FP32] * p.ClockMHz * 1e6
	share := p.MemoryShare
	if share == 0 {
		share = 1
	}
	seconds := max(macs/rate, bytes/(p.MemoryGBps*1e9*share))
	return nanoseconds(seconds) + int64(p.KernelRamp/model.Nanosecond)
}

func nanoseconds(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }

// window is the window of a convolution or a pool. Both paddings of an axis are equal.
type window struct{ kh, kw, strideH, strideW, padH, padW int }

// same returns a square window, padded so that with stride 1 the output has the size of the input.
func same(k, stride int) window { return window{k, k, stride, stride, k / 2, k / 2} }

// valid returns a square window without padding.
func valid(k, stride int) window { return window{k, k, stride, stride, 0, 0} }

// flat returns a window of one row or one column, padded like same.
func flat(kh, kw, strideH, strideW int) window {
	return window{kh, kw, strideH, strideW, kh / 2, kw / 2}
}

func (w window) over(x tensor, c int) tensor {
	return tensor{c: c, h: (x.h+2*w.padH-w.kh)/w.strideH + 1, w: (x.w+2*w.padW-w.kw)/w.strideW + 1}
}

// conv adds a convolution to c channels, including the normalization after it.
func (t *tape) conv(x tensor, c int, w window) tensor { return t.grouped(x, c, 1, w) }

// depthwise adds a convolution of each channel by itself.
func (t *tape) depthwise(x tensor, w window) tensor { return t.grouped(x, x.c, x.c, w) }

func (t *tape) grouped(x tensor, c, groups int, w window) tensor {
	out := w.over(x, c)
	weights := float64(w.kh * w.kw * c * x.c / groups)
	what := fmt.Sprintf("conv%dx%d", w.kh, w.kw)
	if groups > 1 {
		what = "depthwise" + what[4:]
	}
	return t.kernel(what, out, weights*float64(out.h*out.w), weights, x)
}

func (t *tape) relu(x tensor) tensor { return t.kernel("relu", x, 0, 0, x) }

// pool takes the maximum or the average over windows.
func (t *tape) pool(x tensor, w window) tensor { return t.kernel("pool", w.over(x, x.c), 0, 0, x) }

// globalPool averages each channel.
func (t *tape) globalPool(x tensor) tensor {
	return t.kernel("pool", tensor{c: x.c, h: 1, w: 1}, 0, 0, x)
}

func (t *tape) linear(x tensor, c int) tensor {
	n := float64(x.c * c)
	return t.kernel("linear", tensor{c: c, h: 1, w: 1}, n, n, x)
}

func (t *tape) add(x, y tensor) tensor {
	if x.c != y.c || x.h != y.h || x.w != y.w {
		panic(fmt.Sprintf("BUG: a sum of %v and %v", x, y))
	}
	return t.kernel("add", x, 0, 0, x, y)
}

// concat adds the concatenation of tensors by channels.
func (t *tape) concat(xs ...tensor) tensor {
	out := xs[0]
	for _, x := range xs[1:] {
		if x.h != out.h || x.w != out.w {
			panic(fmt.Sprintf("BUG: %v beside %v", x, xs[0]))
		}
		out.c += x.c
	}
	return t.kernel("concat", out, 0, 0, xs...)
}

// pad adds a row and a column of zeros on one side.
func (t *tape) pad(x tensor) tensor {
	return t.kernel("pad", tensor{c: x.c, h: x.h + 1, w: x.w + 1}, 0, 0, x)
}

// cut returns a view without the first row and column, which takes no time.
func (t *tape) cut(x tensor) tensor {
	return t.op("slice", tensor{c: x.c, h: x.h - 1, w: x.w - 1}, 0, []tensor{x})
}

// contiguous copies a view.
func (t *tape) contiguous(x tensor) tensor { return t.kernel("copy", x, 0, 0, x) }
