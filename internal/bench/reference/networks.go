package reference

import "math"

// Parameters returns the weights and biases of the convolutions of a network one after the other. The convolution of a
// shortcut comes before the last one of its block, which adds the shortcut.
type Parameters func() (weights, bias []float32)

var infinity = math.Inf(1)

// conv applies a convolution with the next parameters, padded so that a stride of 1 keeps the extent.
func (next Parameters) conv(x *Activations, side, stride int, low float64) *Activations {
	return next.add(x, nil, side, stride, low)
}

// add is conv with an addition of y before the result is clamped.
func (next Parameters) add(x, y *Activations, side, stride int, low float64) *Activations {
	weights, bias := next()
	return Apply(&Conv{weights, bias, side, stride, side / 2, low, infinity, false}, x, y)
}

// ResNet applies the network of He, Zhang, Ren and Sun with basic blocks, or with bottlenecks, whose output has four
// times as many channels as their 3 x 3 convolution. stages is the number of blocks per stage. It returns the logits.
func ResNet(x *Activations, next Parameters, stages [4]int, bottleneck bool) *Activations {
	x = next.conv(x, 7, 2, 0)
	x = Apply(&MaxPool{3, 2, 1}, x, nil)
	for stage, blocks := range stages {
		for block := range blocks {
			stride := 1
			if stage > 0 && block == 0 {
				stride = 2
			}
			x = next.residual(x, stride, block == 0 && (stage > 0 || bottleneck), bottleneck)
		}
	}
	return next.conv(Apply(Mean{}, x, nil), 1, 1, -infinity)
}

// residual is a block. A projection replaces the shortcut where the shape changes.
func (next Parameters) residual(x *Activations, stride int, project, bottleneck bool) *Activations {
	var y *Activations
	side := 3
	if bottleneck {
		y, side = next.conv(next.conv(x, 1, 1, 0), 3, stride, 0), 1
	} else {
		y = next.conv(x, 3, stride, 0)
	}
	if project {
		x = next.conv(x, 1, stride, -infinity)
	}
	return next.add(y, x, side, 1, 0)
}

// MobileNetV2 applies the network of Sandler et al. with width 1. It returns the logits.
func MobileNetV2(x *Activations, next Parameters) *Activations {
	conv := func(x *Activations, side, stride int, high float64, depthwise bool, y *Activations) *Activations {
		weights, bias := next()
		low := 0.0
		if high > 6 {
			low = -infinity
		}
		return Apply(&Conv{weights, bias, side, stride, side / 2, low, high, depthwise}, x, y)
	}
	x = conv(x, 3, 2, 6, false, nil)
	in := 32
	for _, s := range []struct{ expand, out, blocks, stride int }{
		{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1},
	} {
		for block := range s.blocks {
			stride, y, shortcut := 1, x, x
			if block == 0 {
				stride = s.stride
			}
			if stride != 1 || in != s.out {
				shortcut = nil
			}
			if s.expand > 1 {
				y = conv(y, 1, 1, 6, false, nil)
			}
			x = conv(conv(y, 3, stride, 6, true, nil), 1, 1, infinity, false, shortcut)
			in = s.out
		}
	}
	return conv(Apply(Mean{}, conv(x, 1, 1, 6, false, nil), nil), 1, 1, infinity, false, nil)
}
