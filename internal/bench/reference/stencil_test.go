package reference

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// cosine is a standing wave with k and l half periods along the axes, which the second differences keep.
func cosine(rows, cols, k, l int) *Grid {
	g := &Grid{rows, cols, make([]float64, rows*cols)}
	return g.filled(func(row, col int) float64 {
		return math.Cos(math.Pi*float64(k)*(float64(row)+0.5)/float64(rows)) * math.Cos(math.Pi*float64(l)*(float64(col)+0.5)/float64(cols))
	})
}

// A standing wave is its start times cos(omega t), with cos(omega) = 1 - 2 (cy sin^2(pi k / 2 rows) + cx sin^2(pi l / 2 cols)).
func TestWaveStands(t *testing.T) {
	const rows, cols, k, l, cy, cx = 7, 10, 2, 3, 0.0625, 0.25
	sine := func(k, n float64) float64 { return math.Pow(math.Sin(math.Pi*k/(2*n)), 2) }
	omega := math.Acos(1 - 2*(cy*sine(k, rows)+cx*sine(l, cols)))
	start := cosine(rows, cols, k, l)
	before, u := start, WaveStart(start, cy, cx)
	for step := 1; step <= 20; step++ {
		for i := range u.U {
			assert.InDelta(t, start.U[i]*math.Cos(omega*float64(step)), u.U[i], 1e-12)
		}
		before, u = u, Wave(before, u, cy, cx)
	}
}

func TestWaveContinuesItsBorders(t *testing.T) {
	u := &Grid{1, 3, []float64{1, 2, 4}}
	assert.Equal(t, []float64{1.5, 2.5, 3}, WaveStart(u, 100, 1).U)
	assert.Equal(t, []float64{3, 2, -1}, Wave(&Grid{1, 3, []float64{0, 3, 7}}, u, 100, 1).U)
}

// The product of sines with k and l half periods is an eigenvector of the mean of neighbours.
func TestJacobiReducesSines(t *testing.T) {
	const side, k, l = 9, 1, 3
	u := (&Grid{side, side, make([]float64, side*side)}).filled(func(row, col int) float64 {
		return math.Sin(math.Pi*k*float64(row)/(side-1)) * math.Sin(math.Pi*l*float64(col)/(side-1))
	})
	factor := (math.Cos(math.Pi*k/(side-1)) + math.Cos(math.Pi*l/(side-1))) / 2
	next, norm := Jacobi(u)
	sum := 0.0
	for i, v := range u.U {
		assert.InDelta(t, factor*v, next.U[i], 1e-12)
		sum += v * v
	}
	assert.InDelta(t, (1-factor)*(1-factor)*sum, norm, 1e-12)
}

func TestJacobiKeepsBorders(t *testing.T) {
	next, norm := Jacobi(&Grid{3, 3, []float64{1, 2, 3, 4, 100, 6, 7, 8, 9}})
	assert.Equal(t, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, next.U)
	assert.Equal(t, 95.0*95, norm)
}
