package profiles

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// extremes are values that a file may give a figure.
var extremes = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, math.SmallestNonzeroFloat64, 1e-320, 1e-300, 1e-9, math.MaxFloat64, 1e300, 1e19, 1 << 62}

// TestFiguresHaveBounds sets every figure to values beyond them. The error names the figure, the value and the bounds.
func TestFiguresHaveBounds(t *testing.T) {
	for _, f := range Figures() {
		for _, v := range extremes {
			p := h200
			before := f.Of(&p)
			err := f.Set(&p, v)
			if err == nil { // a time, which is rounded to a picosecond
				assert.Less(t, math.Abs(v), 1e-3, f.Name)
				continue
			}
			assert.ErrorContains(t, err, f.Name)
			assert.Equal(t, before, f.Of(&p), f.Name)
		}
	}
}
