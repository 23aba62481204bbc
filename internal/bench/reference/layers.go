package reference

import "math"

// Product returns element at, counted in rows, of the product of a, transposed, and b, and the sum of the magnitudes of
// its terms. a is k x m, b is k x n, and the product m x n, all row-major.
func Product(m, n, k int, a, b []float32, at int) (sum, magnitude float64) {
	i, j := at/n, at%n
	for l := range k {
		term := float64(a[l*m+i]) * float64(b[l*n+j])
		sum += term
		magnitude += math.Abs(term)
	}
	return sum, magnitude
}

// Activations are the channels of several images, between layers of a network.
type Activations struct {
	Channels, Images, Rows, Cols int
	Data                         []float64 // ordered by channel, image, row and column
}

// NewActivations converts data of the device to float64.
func NewActivations(channels, images, rows, cols int, data []float32) *Activations {
	x := &Activations{channels, images, rows, cols, make([]float64, len(data))}
	for i, v := range data {
		x.Data[i] = float64(v)
	}
	return x
}

// place returns the channel, image, row and column of element i.
func (x *Activations) place(i int) (channel, image, row, col int) {
	return i / (x.Images * x.Rows * x.Cols), i / (x.Rows * x.Cols) % x.Images, i / x.Cols % x.Rows, i % x.Cols
}

// at returns a pixel of a channel of an image, or 0 outside of the image.
func (x *Activations) at(channel, image, row, col int) float64 {
	if row < 0 || row >= x.Rows || col < 0 || col >= x.Cols {
		return 0
	}
	return x.Data[((channel*x.Images+image)*x.Rows+row)*x.Cols+col]
}

// Layer computes activations of activations.
type Layer interface {
	// Of returns the layer's output for x, without data.
	Of(x *Activations) Activations
	// At returns element i of the output for x, and the sum of the magnitudes of its terms, which bounds its
	// rounding error. y is added, if the layer adds.
	At(x, y *Activations, i int) (value, magnitude float64)
}

// Apply returns the output of a layer.
func Apply(l Layer, x, y *Activations) *Activations {
	out := l.Of(x)
	out.Data = make([]float64, out.Channels*out.Images*out.Rows*out.Cols)
	for i := range out.Data {
		out.Data[i], _ = l.At(x, y, i)
	}
	return &out
}

// Conv is a convolution with a bias. It may add other activations, and clamps the results.
type Conv struct {
	Weights           []float32 // ordered by channel of the input, row, column, and channel of the output
	Bias              []float32 // by channel of the output
	Side, Stride, Pad int
	Low, High         float64
	// Depthwise convolves each channel with a filter of its own. Weights are then ordered by channel, row and column.
	Depthwise bool
}

// Of implements Layer.
func (c *Conv) Of(x *Activations) Activations {
	return Activations{Channels: len(c.Bias), Images: x.Images, Rows: c.extent(x.Rows), Cols: c.extent(x.Cols)}
}

func (c *Conv) extent(n int) int { return (n+2*c.Pad-c.Side)/c.Stride + 1 }

// At implements Layer.
func (c *Conv) At(x, y *Activations, i int) (value, magnitude float64) {
	out := c.Of(x)
	channel, image, row, col := out.place(i)
	value = float64(c.Bias[channel])
	if y != nil {
		value += y.Data[i]
	}
	magnitude = math.Abs(value)
	from, to := 0, x.Channels
	if c.Depthwise {
		from, to = channel, channel+1
	}
	for l := from; l < to; l++ {
		for di := range c.Side {
			for dj := range c.Side {
				term := c.weight(l, di, dj, channel) * x.at(l, image, row*c.Stride-c.Pad+di, col*c.Stride-c.Pad+dj)
				value += term
				magnitude += math.Abs(term)
			}
		}
	}
	return min(max(value, c.Low), c.High), magnitude
}

func (c *Conv) weight(from, di, dj, to int) float64 {
	tap := (from*c.Side+di)*c.Side + dj
	if c.Depthwise {
		return float64(c.Weights[tap])
	}
	return float64(c.Weights[tap*len(c.Bias)+to])
}

// MaxPool is the greatest pixel of each place of a window.
type MaxPool struct{ Side, Stride, Pad int }

// Of implements Layer.
func (p *MaxPool) Of(x *Activations) Activations {
	c := Conv{Side: p.Side, Stride: p.Stride, Pad: p.Pad}
	return Activations{Channels: x.Channels, Images: x.Images, Rows: c.extent(x.Rows), Cols: c.extent(x.Cols)}
}

// At implements Layer.
func (p *MaxPool) At(x, _ *Activations, i int) (value, magnitude float64) {
	out := p.Of(x)
	channel, image, row, col := out.place(i)
	value = math.Inf(-1)
	for r := max(row*p.Stride-p.Pad, 0); r < min(row*p.Stride-p.Pad+p.Side, x.Rows); r++ {
		for c := max(col*p.Stride-p.Pad, 0); c < min(col*p.Stride-p.Pad+p.Side, x.Cols); c++ {
			value = max(value, x.at(channel, image, r, c))
		}
	}
	return value, math.Abs(value)
}

// Mean is the mean of each channel of each image.
type Mean struct{}

// Of implements Layer.
func (Mean) Of(x *Activations) Activations {
	return Activations{Channels: x.Channels, Images: x.Images, Rows: 1, Cols: 1}
}

// At implements Layer.
func (Mean) At(x, _ *Activations, i int) (value, magnitude float64) {
	n := x.Rows * x.Cols
	for _, v := range x.Data[i*n : (i+1)*n] {
		value += v / float64(n)
		magnitude += math.Abs(v) / float64(n)
	}
	return value, magnitude
}

// Softmax is the share of each channel in the sum of the exponentials of all channels of an image of one pixel.
type Softmax struct{}

// Of implements Layer.
func (Softmax) Of(x *Activations) Activations {
	return Activations{Channels: x.Channels, Images: x.Images, Rows: 1, Cols: 1}
}

// At implements Layer.
func (Softmax) At(x, _ *Activations, i int) (value, magnitude float64) {
	sum := 0.0
	for c := range x.Channels {
		sum += math.Exp(x.at(c, i%x.Images, 0, 0) - x.Data[i])
	}
	// The exponent has the rounding error of its difference, which is relative in the result.
	return 1 / sum, (1 + math.Abs(x.Data[i])) / sum
}
