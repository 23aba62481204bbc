package reference

// Volume is an image of several channels.
type Volume struct {
	Rows, Cols, Channels int
	Data                 []float64 // row-major, the channels of a pixel together
}

// VolumeOf widens what a device works on.
func VolumeOf(rows, cols, channels int, data []float32) *Volume {
	v := &Volume{rows, cols, channels, make([]float64, rows*cols*channels)}
	for i := range v.Data {
		v.Data[i] = float64(data[i])
	}
	return v
}

// Filters that DL convolves each image with: 8 of 3 x 3 x 1, 16 of 3 x 3 x 8.
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

// Features runs an image through its network: convolution, mean pooling, convolution.
func (b Branch) Features() *Volume {
	pooled := convolve(b.Image, b.Weights1, dlFilters1, dlDiameter, dlStride).pool(dlPool)
	return convolve(pooled, b.Weights2, dlFilters2, dlDiameter, dlStride)
}

// DL is the benchmark's siamese network: two images go through a network each, and a
// dense layer makes a number of both their features together. It returns the
// features, the number, and the sum of the magnitudes that were added up for it,
// which is what its rounding is to be measured by.
//
// The benchmark's C++ version passes the dense layer half the length, and so ignores
// its second image.
func DL(x, y Branch, dense []float32) (features []float64, res, magnitude float64) {
	features = append(x.Features().Data, y.Features().Data...)
	for i, f := range features {
		term := f * float64(dense[i])
		res += term
		magnitude += max(term, -term)
	}
	return features, res, magnitude
}

// convolve moves filters over an image in strides and cuts negative sums to 0. A
// filter that would leave the image, as the last of an even number of rows does, gives
// 0. Weights are by filter, row, column and channel.
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

// pool takes the mean of each square of that size, channel by channel. What is left
// over at the edges counts for nothing. The benchmark's code computes two rows and two
// columns fewer, although their squares lie inside the image.
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

// windows makes a volume of what f gives for each place of a window, whose first pixel is
// (i, j), and 0 where the window leaves v.
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
