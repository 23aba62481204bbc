package reference

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGaussianByHand(t *testing.T) {
	assert.Equal(t, []float64{1}, Gaussian(1, 3).Weights)

	edge, corner := math.Exp(-0.5), math.Exp(-1)
	sum := 1 + 4*edge + 4*corner
	want := []float64{corner / sum, edge / sum, corner / sum, edge / sum, 1 / sum, edge / sum, corner / sum, edge / sum, corner / sum}
	assert.InDeltaSlice(t, want, Gaussian(3, 1).Weights, 1e-15)
}

func TestGaussiansAreNormalisedSymmetricAndPeakInTheCentre(t *testing.T) {
	filters := IMGFilters()
	for _, f := range []Filter{filters.Small, filters.Large, filters.Unsharpen, Gaussian(9, 2)} {
		d := f.Diameter
		sum := 0.0
		for i := range d {
			for j := range d {
				w := f.Weights[i*d+j]
				sum += w
				assert.Equal(t, w, f.Weights[j*d+i], "transposed")
				assert.Equal(t, w, f.Weights[(d-1-i)*d+j], "mirrored")
				if i != d/2 || j != d/2 {
					assert.Less(t, w, f.Weights[(d*d)/2])
				}
			}
		}
		assert.InDelta(t, 1, sum, 1e-14)
	}
}

func TestIMGFiltersHaveTheBenchmarksDiameters(t *testing.T) {
	f := IMGFilters()
	assert.Equal(t, [3]int{3, 5, 3}, [3]int{f.Small.Diameter, f.Large.Diameter, f.Unsharpen.Diameter})
	assert.Len(t, f.Large.Float32(), 25)
	assert.Equal(t, float32(f.Large.Weights[7]), f.Large.Float32()[7])
}
