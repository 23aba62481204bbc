package bench

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/bench/reference"
)

// resnet18 and resnet50 are networks of K. He, X. Zhang, S. Ren and J. Sun, "Deep residual learning for image
// recognition", CVPR 2016. A bottleneck has its stride in the middle convolution, as in current implementations. The
// convolution of a shortcut, where the shape changes, runs beside the others of its block.
//
//	x ─┬─► 3x3 ─────────► 3x3 ─► + ─►      x ─┬─► 1x1 ─► 3x3 ─► 1x1 ─► + ─►
//	   └────────► (1x1) ────────┘             └──────────► (1x1) ──────┘
var (
	resnet18 = newResNet("resnet18", "ResNet-18", [4]int{2, 2, 2, 2}, false).workload()
	resnet50 = newResNet("resnet50", "ResNet-50", [4]int{3, 4, 6, 3}, true).workload()
)

func newResNet(name, title string, stages [4]int, bottleneck bool) *network {
	return &network{
		name: name, title: title, maxTerms: maxTerms,
		features: func(t *layers, x tensor) tensor { return t.resnet(x, stages, bottleneck) },
		logits: func(x *reference.Activations, next reference.Parameters) *reference.Activations {
			return reference.ResNet(x, next, stages, bottleneck)
		},
	}
}

// resnet adds the layers up to the mean of the channels.
func (t *layers) resnet(x tensor, stages [4]int, bottleneck bool) tensor {
	x = t.conv("conv1", x, relu(64, 7, 2))
	x = t.pool("pool", x, 3, 2)
	for stage, blocks := range stages {
		for i := range blocks {
			stride := 1
			if i == 0 && stage > 0 {
				stride = 2
			}
			name := fmt.Sprintf("layer%d.%d.", stage+1, i)
			if bottleneck {
				x = t.bottleneck(name, x, 64<<stage, stride)
			} else {
				x = t.basic(name, x, 64<<stage, stride)
			}
		}
	}
	return t.mean("mean", x)
}

// lastGain is the gain of the last convolution of a block, so that the sums of many blocks stay small.
const lastGain = 0.5

func (t *layers) basic(name string, x tensor, channels, stride int) tensor {
	y := t.conv(name+"conv1", x, relu(channels, 3, stride))
	x = t.project(name, x, channels, stride)
	return t.residual(name+"conv2", y, x, relu(channels, 3, 1).scaled(lastGain))
}

func (t *layers) bottleneck(name string, x tensor, channels, stride int) tensor {
	y := t.conv(name+"conv1", x, relu(channels, 1, 1))
	y = t.conv(name+"conv2", y, relu(channels, 3, stride))
	x = t.project(name, x, 4*channels, stride)
	return t.residual(name+"conv3", y, x, relu(4*channels, 1, 1).scaled(lastGain))
}

// project returns the shortcut of a block: x, or its projection where the shape changes.
func (t *layers) project(name string, x tensor, channels, stride int) tensor {
	if stride == 1 && x.channels == channels {
		return x
	}
	return t.shortcut(name+"shortcut", x, unclamped(channels, 1, stride))
}
