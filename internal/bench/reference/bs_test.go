package reference

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestBSByTheBook computes the example of Hull, Options, Futures, and Other Derivatives: 4.76.
func TestBSByTheBook(t *testing.T) {
	price := BS([]float64{42}, Option{Rate: 0.1, Volatility: 0.2, Years: 0.5, Strike: 40})
	assert.InDelta(t, 4.76, price[0], 0.005)
}

func normal(d float64) float64 { return math.Erfc(-d/math.Sqrt2) / 2 }

func TestCumulativeIsAsGoodAsItsBound(t *testing.T) {
	for d := -8.0; d <= 8; d += 1.0 / 64 {
		assert.InDelta(t, normal(d), cumulative(d), 7.5e-8, fmt.Sprint("d = ", d))
	}
}

// TestBSIsTheClosedForm compares prices with those of the exact distribution. They may differ by the errors of the two
// polynomials.
func TestBSIsTheClosedForm(t *testing.T) {
	for _, o := range []Option{
		{Rate: 0.08, Volatility: 0.3, Years: 1, Strike: 60},
		{Rate: -0.01, Volatility: 0.8, Years: 0.25, Strike: 100},
		{Rate: 0.02, Volatility: 0.05, Years: 30, Strike: 1},
	} {
		for _, moneyness := range []float64{0.1, 0.9, 0.99, 1, 1.01, 1.1, 10} {
			s := moneyness * o.Strike
			assert.InDelta(t, o.call(s, normal), BS([]float64{s}, o)[0], 7.5e-8*(s+o.Strike*math.Exp(-o.Rate*o.Years)), "%+v at %v", o, s)
		}
	}
}

// A call is worth no less than the asset less the discounted strike, and tends to
// that when it is sure to be exercised; it is worth nothing when it is sure not to be.
func TestBSFarFromTheStrike(t *testing.T) {
	o := Option{Rate: 0.08, Volatility: 0.3, Years: 1, Strike: 60}
	price := BS([]float64{6000, 0.6}, o)
	assert.InDelta(t, 6000-60*math.Exp(-0.08), price[0], 1e-9)
	assert.InDelta(t, 0, price[1], 1e-9)
}
