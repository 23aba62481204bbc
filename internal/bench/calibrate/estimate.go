package calibrate

import (
	"math"
	"slices"
)

// Estimate is a measured value with the spread of its samples: the interquartile range divided by the value.
type Estimate struct{ Value, Spread float64 }

// Numbers of samples: enough if they agree to within 1 %, and the maximum if they do not.
const (
	fewSamples  = 3
	manySamples = 15
	agreement   = 0.01
)

// estimate returns the median of samples with their spread.
func estimate(samples []float64) Estimate {
	s := slices.Sorted(slices.Values(samples))
	e := Estimate{Value: quantile(s, 0.5)}
	if e.Value != 0 {
		e.Spread = (quantile(s, 0.75) - quantile(s, 0.25)) / math.Abs(e.Value)
	}
	return e
}

// quantile interpolates between neighbours of a sorted list.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// minus returns the difference, at least 0, which noise could make negative. Spreads are added.
func (e Estimate) minus(o Estimate) Estimate {
	d := max(0, e.Value-o.Value)
	if d == 0 {
		return Estimate{Spread: 1}
	}
	return Estimate{d, (e.Value*e.Spread + o.Value*o.Spread) / d}
}

// times returns the estimate times f.
func (e Estimate) times(f float64) Estimate { return Estimate{e.Value * f, e.Spread} }

// per returns f divided by the estimate, such as a rate from a time.
func (e Estimate) per(f float64) Estimate { return Estimate{f / e.Value, e.Spread} }
