package solver

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/solver/sparse"
)

func TestRowsOfOneColourAreIndependent(t *testing.T) {
	for name, a := range map[string]*sparse.CSR{
		"square": generate("poisson2d:6"), "cube": generate("poisson3d:4"), "wind": sparse.ConvectionDiffusion(5, 1), "random": generate("spd:80,9,3"),
		"one way": oneWay(t), "nothing": {Ptr: []int32{0}},
	} {
		order, ends := byColour(a)
		seen := make([]bool, a.Rows)
		first := 0
		for _, end := range ends {
			for k, i := range order[first:end] {
				assert.False(t, seen[i], "%s: row %d is there twice", name, i)
				seen[i] = true
				for _, j := range order[first+k+1 : end] {
					assert.Zero(t, a.At(int(i), int(j)), "%s: (%d, %d)", name, i, j)
					assert.Zero(t, a.At(int(j), int(i)), "%s: (%d, %d)", name, j, i)
				}
			}
			assert.Greater(t, end, first, "%s: an empty colour", name)
			first = end
		}
		assert.Len(t, order, a.Rows)
		assert.NotContains(t, seen, false, name)
		if name == "square" || name == "cube" || name == "wind" {
			assert.Len(t, ends, 2, "%s: red and black", name)
		}
	}
}

// oneWay has elements above the diagonal alone, so that only columns tell who depends on a row.
func oneWay(t *testing.T) *sparse.CSR {
	t.Helper()
	elements := sparse.NewTriplets(9, 9)
	for i := range 9 {
		elements.Add(i, i, 1)
		if i > 0 {
			elements.Add(i/2, i, 1)
		}
	}
	a, err := elements.CSR()
	assert.NoError(t, err)
	return a
}
