package reference

import "math"

// Filter is a square convolution filter; its diameter is odd.
type Filter struct {
	Diameter int
	Weights  []float64 // row-major
}

// Gaussian returns the centred Gaussian filter with weights of sum 1.
func Gaussian(diameter int, sigma float64) Filter {
	f := Filter{diameter, make([]float64, diameter*diameter)}
	centre := diameter / 2
	sum := 0.0
	for k := range f.Weights {
		di, dj := float64(k/diameter-centre), float64(k%diameter-centre)
		f.Weights[k] = math.Exp(-0.5 * (di*di + dj*dj) / (sigma * sigma))
		sum += f.Weights[k]
	}
	for k := range f.Weights {
		f.Weights[k] /= sum
	}
	return f
}

// Float32 returns the weights for a device.
func (f Filter) Float32() []float32 {
	out := make([]float32, len(f.Weights))
	for i, w := range f.Weights {
		out[i] = float32(w)
	}
	return out
}

// Filters holds the three filters of benchmark IMG.
type Filters struct{ Small, Large, Unsharpen Filter }

// IMGFilters returns the filters with the benchmark's diameters and sigmas. The suite's Python version centres them
// half a pixel off; these are centred, as in its C++ version.
func IMGFilters() Filters {
	return Filters{Small: Gaussian(3, 1), Large: Gaussian(5, 10), Unsharpen: Gaussian(3, 5)}
}
