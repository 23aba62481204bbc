package bench

import (
	"fmt"
	"math"
	"sync"

	"github.com/reprise-gpu/reprise/internal/bench/input"
	"github.com/reprise-gpu/reprise/internal/bench/reference"
	"github.com/reprise-gpu/reprise/tracer"
)

// networkData holds the images and parameters of a network.
type networkData struct {
	image      []float32
	parameters []parameters               // by layer
	layers     map[*layer]reference.Layer // for the CPU
	logits     func() *reference.Activations
}

// parameters are those of a convolution; other layers have none.
type parameters struct{ weights, bias []float32 }

// newNetworkData draws weights from the uniform distribution around 0 that gives each layer's sums the variance of its
// filter's gain (K. He et al., "Delving deep into rectifiers", ICCV 2015).
func newNetworkData(t *layers, n *network) *networkData {
	p := t.params
	signed := func(array string, count int, scale float64) []float32 {
		s := input.Of(n.name+"/"+array, p.Seed)
		return input.Array(count, func(i int) float32 { return float32(scale) * (2*s.Float32(i) - 1) })
	}
	d := &networkData{image: signed("image", 3*p.Batch*p.Size*p.Size, 1), layers: map[*layer]reference.Layer{}}
	for _, l := range t.list {
		var of parameters
		if d.layers[l] = l.is; l.is == nil {
			fan := l.filter.fan(l.in.channels)
			of.weights = signed(l.name+".weights", fan*l.filter.channels, math.Sqrt(3*l.filter.gain/float64(fan)))
			of.bias = signed(l.name+".bias", l.filter.channels, 0.1)
			d.layers[l] = l.filter.reference(of)
		}
		d.parameters = append(d.parameters, of)
	}
	d.logits = sync.OnceValue(func() *reference.Activations {
		return n.logits(reference.NewActivations(3, p.Batch, p.Size, p.Size, d.image), d.next())
	})
	return d
}

// reference is the convolution for the CPU.
func (f filter) reference(p parameters) *reference.Conv {
	return &reference.Conv{
		Weights: p.weights, Bias: p.bias, Side: f.side, Stride: f.stride, Pad: f.side / 2, Low: f.low, High: f.high, Depthwise: f.depthwise,
	}
}

// next returns the parameters of the convolutions one after the other.
func (d *networkData) next() reference.Parameters {
	i := 0
	return func() (weights, bias []float32) {
		for d.parameters[i].weights == nil {
			i++
		}
		i++
		return d.parameters[i-1].weights, d.parameters[i-1].bias
	}
}

func (d *networkData) hash() uint64 {
	h := input.Hash(0, d.image)
	for _, p := range d.parameters {
		h = input.Hash(input.Hash(h, p.weights), p.bias)
	}
	return h
}

// load writes the parameters.
func (t *layers) load(d *networkData) (err error) {
	for i, l := range t.list {
		if p := d.parameters[i]; p.weights != nil {
			err = firstError(err, tracer.Write(l.weights, p.weights), tracer.Write(l.bias, p.bias))
		}
	}
	return err
}

// reset writes the images and poisons all results.
func (t *layers) reset(d *networkData, image, result array) error {
	buffers := []tracer.Buffer{t.main.columns, t.main.sums, result.host}
	if t.side.maxSums > 0 {
		buffers = append(buffers, t.side.columns, t.side.sums)
	}
	for _, l := range t.list {
		buffers = append(buffers, l.out.Buffer)
	}
	return firstError(refill(t.program, image, d.image), t.poison(buffers...))
}

// terms is the number of products of two numbers that the convolutions add up.
func (t *layers) terms() (n int) {
	for _, l := range t.list {
		if l.is == nil {
			n += l.filter.fan(l.in.channels) * l.out.channels * l.out.rows * l.out.cols * t.params.Batch
		}
	}
	return n
}

// checkWhole compares the logits with those of the CPU for the same images, and the probabilities with those that follow
// from the logits.
func (t *layers) checkWhole(d *networkData, result array) (float64, error) {
	last := len(t.list) - 1 // the softmax, behind the classifier
	logits := t.list[last-1].out
	got := make([]float32, logits.channels*t.params.Batch)
	if err := tracer.Read(got, logits.Buffer); err != nil {
		return 0, err
	}
	want := d.logits().Data
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	diff, _ := reference.MaxAbsDiff(got, want)
	if err := reference.Compare("logits", got, want, logitShare*largest); err != nil {
		return diff, err
	}
	off, err := t.checkLayers(d, t.list[last:], result)
	return max(diff, off), err
}

const (
	// logitShare is the tolerance of logits relative to the greatest, for rounding errors of all layers.
	logitShare = 1e-4
	// activationsPerLayer is how many activations of a layer are compared if the network is large.
	activationsPerLayer = 64
)

// checkLayers compares some activations of each layer with what the CPU computes from the activations before them. Those of
// the softmax are read from the host's copy.
func (t *layers) checkLayers(d *networkData, list []*layer, result array) (largest float64, err error) {
	for i, l := range list {
		off, err := t.checkLayer(l, d.layers[l], result, t.params.Seed+uint64(i))
		if err != nil {
			return off, err
		}
		largest = max(largest, off)
	}
	return largest, nil
}

func (t *layers) checkLayer(l *layer, is reference.Layer, result array, seed uint64) (largest float64, err error) {
	if l.out.Buffer == result.dev {
		l = &layer{name: l.name, in: l.in, out: tensor{result.host, l.out.channels, l.out.rows, l.out.cols}}
	}
	out, err := t.activations(l.out)
	if err != nil {
		return 0, err
	}
	x, err := t.activations(l.in)
	if err != nil {
		return 0, err
	}
	var y *reference.Activations
	if l.add != nil {
		if y, err = t.activations(*l.add); err != nil {
			return 0, err
		}
	}
	for _, at := range someOf(len(out.Data), activationsPerLayer, seed) {
		want, magnitude := is.At(x, y, at)
		off := math.Abs(out.Data[at] - want)
		if !(off <= layerShare*magnitude) {
			return off, fmt.Errorf("%s[%d] = %v, want %v within %.3g", l.name, at, out.Data[at], want, layerShare*magnitude)
		}
		largest = max(largest, off)
	}
	return largest, nil
}

// activations reads a tensor.
func (t *layers) activations(x tensor) (*reference.Activations, error) {
	data := make([]float32, x.channels*t.params.Batch*x.rows*x.cols)
	if err := tracer.Read(data, x.Buffer); err != nil {
		return nil, err
	}
	return reference.NewActivations(x.channels, t.params.Batch, x.rows, x.cols, data), nil
}
