package reference

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

var nan, inf = math.NaN(), math.Inf(1)

func TestMaxAbsDiff(t *testing.T) {
	for _, c := range []struct {
		got     []float32
		want    []float64
		largest float64
		at      int
	}{
		{nil, nil, 0, -1},
		{[]float32{1}, []float64{1}, 0, 0},
		{[]float32{1, 2, 3}, []float64{1, 2.5, 2.5}, 0.5, 1},
		{[]float32{float32(nan), float32(inf)}, []float64{nan, inf}, 0, 0},
		{[]float32{0, float32(nan)}, []float64{9, 1}, inf, 1},
		{[]float32{0, 1}, []float64{9, nan}, inf, 1},
		{[]float32{float32(inf)}, []float64{-inf}, inf, 0},
	} {
		largest, at := MaxAbsDiff(c.got, c.want)
		assert.Equal(t, c.largest, largest, "%v against %v", c.got, c.want)
		assert.Equal(t, c.at, at, "%v against %v", c.got, c.want)
	}
}

func TestCompareSaysWhereAndByHowMuch(t *testing.T) {
	got, want := []float32{1, 2, 3.5, 5}, []float64{1, 2.25, 3, 4}
	assert.NoError(t, Compare("res", got, want, 1))
	assert.EqualError(t, Compare("res", got, want, 0.25),
		"res differs from the CPU reference in 2 of 4 elements: first at [2], got 3.5, want 3 within 0.25; most at [3], by 1")
	assert.EqualError(t, CompareImage("image3", got, &Image{Rows: 2, Cols: 2, Pix: want}, 0.25),
		"image3 differs from the CPU reference in 2 of 4 elements: first at [1][0], got 3.5, want 3 within 0.25; most at [1][1], by 1")
	assert.EqualError(t, Compare("res", got[:3], want, 1), "res has 3 elements, the reference has 4")
}

func TestCompareNeverAcceptsANaNForANumber(t *testing.T) {
	assert.Error(t, Compare("res", []float32{float32(nan)}, []float64{0}, math.MaxFloat64))
	assert.Error(t, Compare("res", []float32{0}, []float64{nan}, math.MaxFloat64))
	assert.NoError(t, Compare("res", []float32{float32(nan)}, []float64{nan}, 0))
}

func TestCompareRelativeMeasuresByEachWantedValue(t *testing.T) {
	got, want := []float64{0, 1.25e-30, -5e30}, []float64{0, 1e-30, -4e30}
	assert.NoError(t, CompareRelative("auth", got, want, 0.3))
	assert.EqualError(t, CompareRelative("auth", got, want, 0.2),
		"auth differs from the CPU reference in 2 of 3 elements: first at [1], got 1.25e-30, want 1e-30 within 2e-31; most at [2], by 1e+30")
	assert.Error(t, CompareRelative("auth", []float64{1e-300}, []float64{0}, 0.5), "nothing but 0 is near 0")
	for _, c := range [][2]float64{{0, nan}, {nan, 0}, {nan, inf}, {inf, nan}, {1, inf}, {inf, 1}, {-inf, inf}} {
		assert.Error(t, CompareRelative("auth", []float64{c[0]}, []float64{c[1]}, 0.5), "%v against %v", c[0], c[1])
	}
	assert.NoError(t, CompareRelative("auth", []float64{nan, inf}, []float64{nan, inf}, 0))
}
