package calibrate

import (
	"math"
	"slices"
)

// Estimate is a measured value, and how far its samples lay apart: the
// interquartile range over the value.
type Estimate struct{ Value, Spread float64 }

// How often a sample is taken. Those that agree to within a hundredth are
// enough; a device that does not come to rest is measured so often at most.
const (
	fewSamples  = 3
	manySamples = 15
	agreement   = 0.01
)

// estimate is the median of samples.
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

// minus is a difference. Spreads add up; below 0, which noise can lead to, is 0.
func (e Estimate) minus(o Estimate) Estimate {
	d := max(0, e.Value-o.Value)
	if d == 0 {
		return Estimate{Spread: 1}
	}
	return Estimate{d, (e.Value*e.Spread + o.Value*o.Spread) / d}
}

// times is a multiple.
func (e Estimate) times(f float64) Estimate { return Estimate{e.Value * f, e.Spread} }

// per is f over the estimate: a rate, of a time.
func (e Estimate) per(f float64) Estimate { return Estimate{f / e.Value, e.Spread} }
