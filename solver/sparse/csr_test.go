package sparse

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// dense is a as gonum has it.
func dense(a *CSR) *mat.Dense {
	d := mat.NewDense(a.Rows, a.Cols, nil)
	for i := range a.Rows {
		cols, vals := a.Row(i)
		for k, c := range cols {
			d.Set(i, int(c), vals[k])
		}
	}
	return d
}

// random is a matrix of which some elements were added more than once.
func random(t *testing.T, rng *rand.Rand) *CSR {
	t.Helper()
	elements := NewTriplets(1+rng.IntN(9), 1+rng.IntN(9))
	for range rng.IntN(40) {
		elements.Add(rng.IntN(elements.rows), rng.IntN(elements.cols), float64(rng.IntN(9)-4))
	}
	a, err := elements.CSR()
	require.NoError(t, err)
	require.NoError(t, a.Check())
	return a
}

func TestMulAndTransposeAreThoseOfGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for range 200 {
		a := random(t, rng)
		x := make([]float64, a.Cols)
		for i := range x {
			x[i] = float64(rng.IntN(9))
		}
		var want mat.VecDense
		want.MulVec(dense(a), mat.NewVecDense(len(x), x))
		y := make([]float64, a.Rows)
		a.Mul(y, x)
		assert.Equal(t, want.RawVector().Data, y)
		turned := a.Transpose()
		require.NoError(t, turned.Check())
		assert.True(t, mat.Equal(dense(a).T(), dense(turned)))
	}
}

func TestTripletsAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	for range 200 {
		elements := NewTriplets(1+rng.IntN(5), 1+rng.IntN(5))
		want := mat.NewDense(elements.rows, elements.cols, nil)
		for range rng.IntN(60) {
			i, j, v := rng.IntN(elements.rows), rng.IntN(elements.cols), float64(rng.IntN(9)-4)
			elements.Add(i, j, v)
			want.Set(i, j, want.At(i, j)+v)
		}
		a, err := elements.CSR()
		require.NoError(t, err)
		assert.True(t, mat.Equal(want, dense(a)))
		for i := range min(a.Rows, a.Cols) {
			assert.Equal(t, want.At(i, i), a.Diagonal()[i])
		}
	}
}

func TestCheckNamesWhatIsWrong(t *testing.T) {
	for want, spoil := range map[string]func(*CSR){
		"it takes 3":            func(a *CSR) { a.Ptr = a.Ptr[:2] },
		"one for each":          func(a *CSR) { a.Col = a.Col[:1] },
		"row pointers":          func(a *CSR) { a.Ptr[2] = 9 },
		"row 0 ends at entry 5": func(a *CSR) { a.Ptr[1] = 5 },
		"row 1 has column 7":    func(a *CSR) { a.Col[2] = 7 },
		"columns ascend":        func(a *CSR) { a.Col[1] = 0 },
		"each extent":           func(a *CSR) { a.Rows = -1 },
	} {
		a := &CSR{Rows: 2, Cols: 2, Ptr: []int32{0, 2, 3}, Col: []int32{0, 1, 1}, Val: []float64{1, 2, 3}}
		require.NoError(t, a.Check())
		spoil(a)
		assert.ErrorContains(t, a.Check(), want)
	}
}
