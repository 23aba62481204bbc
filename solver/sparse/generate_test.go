package sparse

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// eigenvalues of a symmetric matrix, in ascending order.
func eigenvalues(t *testing.T, a *CSR) []float64 {
	t.Helper()
	full := dense(a)
	require.True(t, mat.Equal(full, full.T()), "it is not symmetric")
	var eigen mat.EigenSym
	require.True(t, eigen.Factorize(mat.NewSymDense(a.Rows, full.RawMatrix().Data), false))
	return eigen.Values(nil)
}

// The eigenvalues of the model problems are known in closed form.
func TestPoissonHasTheEigenvaluesOfTheTextbook(t *testing.T) {
	for n := 1; n <= 5; n++ {
		var line, square, cube []float64
		for i := range n {
			s := math.Sin(float64(i+1) * math.Pi / float64(2*(n+1)))
			line = append(line, 4*s*s)
		}
		for _, x := range line {
			for _, y := range line {
				square = append(square, x+y)
				for _, z := range line {
					cube = append(cube, x+y+z)
				}
			}
		}
		slices.Sort(square)
		slices.Sort(cube)
		assert.InDeltaSlice(t, square, eigenvalues(t, poisson2D(n)), 1e-12)
		assert.InDeltaSlice(t, cube, eigenvalues(t, poisson3D(n)), 1e-12)
	}
}

func TestConvectionDiffusion(t *testing.T) {
	const n, v = 4, 2.5
	a, still := ConvectionDiffusion(n, v), poisson2D(n)
	require.NoError(t, a.Check())
	for i := range a.Rows {
		for j := range a.Cols {
			want := still.At(i, j)
			switch {
			case i == j:
				want += v
			case j == i-1 && i%n > 0: // the western neighbour
				want -= v
			}
			assert.Equal(t, want, a.At(i, j), "(%d, %d)", i, j)
		}
	}
}

func TestRandomSPD(t *testing.T) {
	for seed := range uint64(20) {
		n, perRow := 1+int(seed)*2, int(seed)%7
		a := randomSPD(n, perRow, seed)
		require.NoError(t, a.Check())
		assert.GreaterOrEqual(t, eigenvalues(t, a)[0], float64(1+perRow)/20-1e-12)
		assert.Equal(t, a, randomSPD(n, perRow, seed), "the same seed")
	}
	assert.NotEqual(t, randomSPD(20, 4, 1), randomSPD(20, 4, 2))
}

func TestRandomLinks(t *testing.T) {
	const n, perPage = 4000, 6
	a := randomLinks(n, perPage, 3)
	require.NoError(t, a.Check())
	popular := 0.0
	for i := range n {
		cols, vals := a.Row(i)
		links := 0.0
		for k, v := range vals {
			if links += v; cols[k] < n/4 {
				popular += v
			}
		}
		assert.Equal(t, map[bool]float64{false: perPage, true: 0}[i%16 == 15], links, "page %d", i)
	}
	assert.InDelta(t, 0.5, popular/(n*perPage*15/16), 0.02, "the square of a number from 0 to 1 is below 1/4 as often as the number below 1/2")
	assert.NotEqual(t, a, randomLinks(n, perPage, 4))
}

func TestGenerate(t *testing.T) {
	for spec, want := range map[string]*CSR{
		"poisson2d:3":      poisson2D(3),
		"poisson3d:2":      poisson3D(2),
		"convection:3":     ConvectionDiffusion(3, 1),
		"convection:3,0.5": ConvectionDiffusion(3, 0.5),
		"spd:5":            randomSPD(5, 8, 1),
		"spd:5,2":          randomSPD(5, 2, 1),
		"spd:5,2,7":        randomSPD(5, 2, 7),
		"links:40":         randomLinks(40, 8, 1),
		"links:40,3,2":     randomLinks(40, 3, 2),
	} {
		got, err := Generate(spec)
		require.NoError(t, err, spec)
		assert.Equal(t, want, got, spec)
	}
	for spec, want := range map[string]string{
		"poisson2d":          `poisson2d: "" is no whole number from 1: it is poisson2d:N`,
		"poisson2d:0":        `"0" is no whole number from 1`,
		"poisson2d:3,4":      "too many numbers: it is poisson2d:N",
		"poisson2d:1e3":      `"1e3" is no whole number`,
		"poisson3d:2000":     "poisson3d:2000 has up to 5.6e+10 entries",
		"convection:3,-1":    `"-1" is no number from 0`,
		"convection:3,NaN":   `"NaN" is no number`,
		"spd:3,x":            `"x" is no whole number from 0`,
		"spd:99999999999999": "is no whole number",
		"laplace:3":          `unknown matrix "laplace:3"`,
	} {
		_, err := Generate(spec)
		assert.ErrorContains(t, err, want)
	}
}

func ExampleGenerate() {
	a, err := Generate("poisson2d:2")
	if err != nil {
		panic(err)
	}
	for i := range a.Rows {
		for j := range a.Cols {
			fmt.Printf("%3g", a.At(i, j))
		}
		fmt.Println()
	}
	// Output:
	//   4 -1 -1  0
	//  -1  4  0 -1
	//  -1  0  4 -1
	//   0 -1 -1  4
}
