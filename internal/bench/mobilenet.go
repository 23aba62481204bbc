package bench

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/bench/reference"
)

// mobilenetV2 is the network of M. Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", CVPR 2018,
// with width 1.
//
//	x ─┬─► 1x1 ─► depthwise 3x3 ─► 1x1 ─► + ─►
//	   └──────────────────────────────────┘     where the shape stays the same
var mobilenetV2 = (&network{"mobilenetv2", "MobileNetV2", (*layers).mobilenetV2, reference.MobileNetV2, maxTerms}).workload()

// mobilenetV2 adds the layers up to the mean of the channels.
func (t *layers) mobilenetV2(x tensor) tensor {
	x = t.conv("conv1", x, relu6(32, 3, 2))
	block := 0
	for _, s := range []struct{ expand, channels, blocks, stride int }{ // table 2 of the paper
		{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1},
	} {
		for i := range s.blocks {
			stride := 1
			if i == 0 {
				stride = s.stride
			}
			block++
			x = t.inverted(fmt.Sprintf("block%d.", block), x, s.expand, s.channels, stride)
		}
	}
	return t.mean("mean", t.conv("conv2", x, relu6(1280, 1, 1)))
}

// inverted adds an inverted residual block.
func (t *layers) inverted(name string, x tensor, expand, channels, stride int) tensor {
	y := x
	if expand > 1 {
		y = t.conv(name+"expand", y, relu6(expand*x.channels, 1, 1))
	}
	y = t.depthwise(name+"depthwise", y, relu6(y.channels, 3, stride))
	project := unclamped(channels, 1, 1)
	if stride == 1 && x.channels == channels {
		return t.residual(name+"project", y, x, project.scaled(lastGain))
	}
	return t.conv(name+"project", y, project)
}
