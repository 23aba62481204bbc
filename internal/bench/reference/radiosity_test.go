package reference

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRadiosityByHand(t *testing.T) {
	s := &Triangles{
		Emission: []float32{1, 0},
		Factors:  []float32{0, 0.5, 0.25, 0},
		Delays:   []int32{1, 1, 2, 1},
	}
	assert.Equal(t, []float64{
		1, 0,
		1, 0,
		1, 0.25, // the light of step 0
		1.125, 0.25,
		1.125, 0.25,
		1.125, 0.28125,
	}, Radiosity(s, 6))
}
