package bench

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/reference"
)

// network is a network that classifies images.
//
//	copy images ─► features ─► classifier ─► softmax ─► copy probabilities
type network struct {
	name, title string
	features    func(*layers, tensor) tensor // adds the layers up to the mean of the channels
	logits      func(*reference.Activations, reference.Parameters) *reference.Activations
	maxTerms    int // multiply-adds up to which the whole network is checked
}

// classes is the number of classes of ImageNet.
const classes = 1000

func (n *network) workload() *Workload {
	return &Workload{
		Name: n.name, Title: n.title,
		Doc:     n.title + " with seeded weights: im2col, matrix products and the layers between them",
		Unit:    "pixels per side",
		Sizes:   []int{224},
		Tiny:    32,
		Threads: 256,
		Blocks:  perSM,
		Batched: true,
		trace:   n.trace,
		Fits: func(size int) error {
			if size < 8 || size > 1024 {
				return fmt.Errorf("%s takes images of 8 to 1024 pixels per side, not %d", n.name, size)
			}
			return nil
		},
	}
}

func (n *network) trace(dev device.Device, p Params) (*Instance, error) {
	p.Batch = max(1, p.Batch)
	t, x, image := newLayers(dev, n.name, p)
	x = t.conv("classifier", n.features(t, x), unclamped(classes, 1, 1))
	result := t.softmax("probabilities", x)
	if t.shapes.err != nil {
		return nil, t.shapes.err
	}
	t.launch(image, result)
	return finish(t.program, proof[*networkData]{
		data:  func() *networkData { return newNetworkData(t, n) },
		load:  t.load,
		reset: func(d *networkData) error { return t.reset(d, image, result) },
		check: func(d *networkData) (float64, error) {
			if t.terms() > n.maxTerms {
				return t.checkLayers(d, t.list, result)
			}
			return t.checkWhole(d, result)
		},
		hash: (*networkData).hash,
	})
}
