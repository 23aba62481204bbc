package validation

import (
	"math"
	"slices"
)

// Statistics describe the ratios of predicted to measured times of some rows. The error of a row is |ratio - 1|.
type Statistics struct {
	Rows      int     `json:"rows"`
	Geomean   float64 `json:"geomean"` // of the ratios
	Median    float64 `json:"median"`  // of the errors, as are the next two
	Mean      float64 `json:"mean"`
	P90       float64 `json:"p90"`
	P90Factor float64 `json:"p90_factor"` // 90th percentile of max(ratio, 1/ratio)
	Worst     float64 `json:"worst"`      // the ratio farthest from 1, as a factor
	WorstID   string  `json:"worst_id"`
}

// Describe returns the statistics of results without errors; there must be at least one.
func Describe(results []*Result) (s Statistics) {
	var errors, factors []float64
	logs, farthest := 0.0, -1.0
	for _, r := range results {
		ratio := r.Ratio()
		away := math.Log(ratio)
		logs += away
		errors = append(errors, math.Abs(ratio-1))
		factors = append(factors, math.Exp(math.Abs(away)))
		if math.Abs(away) > farthest {
			farthest, s.Worst, s.WorstID = math.Abs(away), ratio, r.Row.ID
		}
	}
	slices.Sort(errors)
	slices.Sort(factors)
	for _, e := range errors {
		s.Mean += e / float64(len(errors))
	}
	s.Rows, s.Geomean = len(results), math.Exp(logs/float64(len(results)))
	s.Median, s.P90, s.P90Factor = percentile(errors, 0.5), percentile(errors, 0.9), percentile(factors, 0.9)
	return s
}

// percentile returns the element of a sorted list below which the share p of the elements lies.
func percentile(sorted []float64, p float64) float64 {
	return sorted[min(len(sorted)-1, int(p*float64(len(sorted))))]
}
