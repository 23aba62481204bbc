package reference

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Two rows, two features of which the second is constant, two classes.
func TestMLByHand(t *testing.T) {
	e := ML(&Observations{
		Rows: 2, X: []int32{1, 4, 3, 4},
		LogProb: []float32{1, 0, 0, 1}, LogPrior: []float32{0.5, 0},
		Weights: []float32{2, 9, 0, 9}, Intercepts: []float32{0, 1},
	})
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	// Bayes: 1+0.5 against 4, 3+0.5 against 4. Ridge: the first feature is -1 and 1, the second 0.
	first, second := sigmoid(-2.5), sigmoid(-0.5)
	assert.InDeltaSlice(t, []float64{
		sigmoid(2*first - 1), sigmoid(1 - 2*first),
		sigmoid(2*second - 1), sigmoid(1 - 2*second),
	}, e.Bayes.Pix, 1e-15)
	assert.InDeltaSlice(t, []float64{sigmoid(-3), sigmoid(3), sigmoid(1), sigmoid(-1)}, e.Ridge.Pix, 1e-15)
	for i := range e.Scores.Pix {
		assert.Equal(t, e.Bayes.Pix[i]+e.Ridge.Pix[i], e.Scores.Pix[i])
	}
}

func observations(rows, features, classes int) *Observations {
	rng := rand.New(rand.NewPCG(3, 4))
	floats := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = rng.Float32()
		}
		return v
	}
	o := &Observations{Rows: rows, X: make([]int32, rows*features)}
	for i := range o.X {
		o.X[i] = rng.Int32N(10)
	}
	o.LogProb, o.LogPrior = floats(classes*features), floats(classes)
	o.Weights, o.Intercepts = floats(classes*features), floats(classes)
	return o
}

func TestMLGivesProbabilities(t *testing.T) {
	e := ML(observations(40, 30, 5))
	for _, m := range []*Image{e.Bayes, e.Ridge} {
		for i := range m.Rows {
			sum := 0.0
			for _, p := range m.row(i) {
				assert.Greater(t, p, 0.0)
				sum += p
			}
			assert.InDelta(t, 1, sum, 1e-12)
		}
	}
}

// The deviation and the mean of a normalised feature do not depend on its unit.
func TestMLNormalisesEachFeature(t *testing.T) {
	o := observations(40, 30, 5)
	want := ML(o).Ridge
	for k := range o.X {
		q := int32(k % 30)
		o.X[k] = (q+1)*o.X[k] - 7*q
	}
	assert.InDeltaSlice(t, want.Pix, ML(o).Ridge.Pix, 1e-12)
}

// A row's classes depend on the other rows through the means alone, not on their order.
func TestMLFollowsItsRows(t *testing.T) {
	o := observations(40, 30, 5)
	want := ML(o).Scores
	reversed := make([]int32, 0, len(o.X))
	for i := o.Rows - 1; i >= 0; i-- {
		reversed = append(reversed, o.X[i*30:(i+1)*30]...)
	}
	o.X = reversed
	got := ML(o).Scores
	for i := range o.Rows {
		assert.InDeltaSlice(t, want.row(i), got.row(o.Rows-1-i), 1e-12)
	}
}

func TestCompareClasses(t *testing.T) {
	scores := image(3, 2, 1, 2, 5, 5.0625, 3, 0)
	short, err := CompareClasses("r", []int32{1, 1, 0}, scores, 0)
	assert.NoError(t, err)
	assert.Zero(t, short)
	short, err = CompareClasses("r", []int32{1, 0, 0}, scores, 0.125)
	assert.NoError(t, err, "a near tie")
	assert.Equal(t, 0.0625, short)
	short, err = CompareClasses("r", []int32{1, 0, 1}, scores, 0.01)
	assert.EqualError(t, err, "r differs from the CPU reference in 2 of 3 elements: first at [1], got class 0, whose score is short of the best by 0.0625")
	assert.Equal(t, 3.0, short)
	for _, none := range []int32{-1, 2} {
		short, err = CompareClasses("r", []int32{1, 1, none}, scores, math.MaxFloat64)
		assert.Error(t, err, "no class")
		assert.Equal(t, inf, short)
	}
	_, err = CompareClasses("r", []int32{1, 1}, scores, 1)
	assert.EqualError(t, err, "r has 2 elements, the reference has 3")
}
