package reference

// Volume is an image of several channels.
type Volume struct {
	Rows, Cols, Channels int
	Data                 []float64 // row-major, the channels of a pixel together
}

// VolumeOf converts data of the device to float64.
func VolumeOf(rows, cols, channels int, data []float32) *Volume {
	v := &Volume{rows, cols, channels, make([]float64, rows*cols*channels)}
	for i := range v.Data {
		v.Data[i] = float64(data[i])
	}
	return v
}

// Filters of DL: 8 of 3 x 3 x 1, then 16 of 3 x 3 x 8.
const (
	dlDiameter, dlStride = 3, 2
	dlFilters1           = 8
	dlFilters2           = 16
	dlPool               = 5
)

// Branch is one of the two networks of DL: the image and its weights.
type Branch struct {
	Image              *Volume
	Weights1, Weights2 []float32
}

// Features applies the network to its image: convolution, mean pooling, convolution.
func (b Branch) Features() *Volume {
	pooled := convolve(b.Image, b.Weights1, dlFilters1, dlDiameter, dlStride).pool(dlPool)
	return convolve(pooled, b.Weights2, dlFilters2, dlDiameter, dlStride)
}

// DL is the siamese network of the benchmark suite: each of two images passes through a network, and a dense layer
// computes a number from the features of both. It returns the features, the number, and the sum of the magnitudes of
// its terms, which bounds its rounding error.
//
// The C++ version of the suite passes half the length to the dense layer, and so ignores its second image.
func DL(x, y Branch, dense []float32) (features []float64, res, magnitude float64) {
	features = append(x.Features().Data, y.Features().Data...)
	for i, f := range features {
		term := f * float64(dense[i])
		res += term
		magnitude += max(term, -term)
	}
	return features, res, magnitude
}

// convolve applies filters with a stride and replaces negative sums by 0. The result is 0 where a filter exceeds the
// image, as in the last of an even number of rows. Weights are ordered by filter, row, column and channel.
func convolve(v *Volume, weights []float32, filters, diameter, stride int) *Volume {
	return v.windows(filters, diameter, stride, func(i, j, m int) float64 {
		sum := 0.0
		for k, w := range weights[m*diameter*diameter*v.Channels : (m+1)*diameter*diameter*v.Channels] {
			pixel, channel := k/v.Channels, k%v.Channels
			sum += float64(w) * v.at(i+pixel/diameter, j+pixel%diameter, channel)
		}
		return max(sum, 0)
	})
}

// pool returns the mean of each square of the given size, per channel. Remaining pixels at the edges are ignored. The
// code of the suite computes two rows and two columns fewer, although their squares are inside of the image.
func (v *Volume) pool(size int) *Volume {
	return v.windows(v.Channels, size, size, func(i, j, channel int) float64 {
		sum := 0.0
		for di := range size {
			for dj := range size {
				sum += v.at(i+di, j+dj, channel)
			}
		}
		return sum / float64(size*size)
	})
}

// windows returns the volume of the values of f for each position of a window with first pixel (i, j), and 0 where
// the window exceeds v.
func (v *Volume) windows(channels, diameter, stride int, f func(i, j, channel int) float64) *Volume {
	rows, cols := v.Rows/stride, v.Cols/stride
	m := fill(rows, cols*channels, func(row, k int) float64 {
		i, j := row*stride, k/channels*stride
		if i+diameter > v.Rows || j+diameter > v.Cols {
			return 0
		}
		return f(i, j, k%channels)
	})
	return &Volume{rows, cols, channels, m.Pix}
}

func (v *Volume) at(i, j, channel int) float64 { return v.Data[(i*v.Cols+j)*v.Channels+channel] }
