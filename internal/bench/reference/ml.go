package reference

import (
	"fmt"
	"math"
)

// Observations holds the inputs of benchmark ML: rows of integer features, and the coefficients of its two
// classifiers.
type Observations struct {
	Rows                int
	X                   []int32   // rows x features
	LogProb, LogPrior   []float32 // naive Bayes: classes x features, classes
	Weights, Intercepts []float32 // ridge regression: classes x features, classes
}

// Ensemble holds the results of the two classifiers: images of rows x classes.
type Ensemble struct {
	Bayes, Ridge *Image // after softmax
	Scores       *Image // their sum
}

// ML classifies each row by naive Bayes and by ridge regression on normalised features, and adds the scores.
//
// The CPU version of the suite takes the log-sum-exp of all rows, where its GPU code takes that of each row. Its GPU
// code normalises by a column-major walk over a row-major matrix. Here both follow the textbook definitions.
func ML(o *Observations) *Ensemble {
	features := len(o.X) / o.Rows
	means, scales := o.columns(features)
	product := func(weights []float32, feature func(q int, x int32) float64) func(i, c int) float64 {
		return func(i, c int) float64 {
			sum := 0.0
			for q, x := range o.X[i*features : (i+1)*features] {
				sum += feature(q, x) * float64(weights[c*features+q])
			}
			return sum
		}
	}
	plain := product(o.LogProb, func(_ int, x int32) float64 { return float64(x) })
	normal := product(o.Weights, func(q int, x int32) float64 { return (float64(x) - means[q]) * scales[q] })

	classes := len(o.LogPrior)
	joint := fill(o.Rows, classes, func(i, c int) float64 { return float64(o.LogPrior[c]) + plain(i, c) })
	ridge := fill(o.Rows, classes, func(i, c int) float64 { return float64(o.Intercepts[c]) + normal(i, c) })
	e := &Ensemble{Bayes: softmax(softmax(joint)), Ridge: softmax(ridge)}
	e.Scores = fill(o.Rows, classes, func(i, c int) float64 { return e.Bayes.row(i)[c] + e.Ridge.row(i)[c] })
	return e
}

// columns returns the mean of each feature and the inverse of its standard deviation, or 0 if that is 0.
func (o *Observations) columns(features int) (means, scales []float64) {
	means, scales = make([]float64, features), make([]float64, features)
	for k, x := range o.X {
		means[k%features] += float64(x) / float64(o.Rows)
	}
	variances := make([]float64, features)
	for k, x := range o.X {
		d := float64(x) - means[k%features]
		variances[k%features] += d * d / float64(o.Rows)
	}
	for j, v := range variances {
		if v > 1e-12 { // features are integers: a smaller variance is the rounding error of a constant column
			scales[j] = 1 / math.Sqrt(v)
		}
	}
	return means, scales
}

// softmax converts each row to positive numbers of sum 1. Subtracting the row's maximum does not change the result
// and keeps exp in range. For logarithms of likelihoods it is Bayes' rule, which the program computes as exp(r -
// log-sum-exp).
func softmax(m *Image) *Image {
	sums, greatest := make([]float64, m.Rows), make([]float64, m.Rows)
	for i := range sums {
		row := m.row(i)
		greatest[i] = math.Inf(-1)
		for _, v := range row {
			greatest[i] = max(greatest[i], v)
		}
		for _, v := range row {
			sums[i] += math.Exp(v - greatest[i])
		}
	}
	return fill(m.Rows, m.Cols, func(i, c int) float64 { return math.Exp(m.row(i)[c]-greatest[i]) / sums[i] })
}

// CompareClasses returns the greatest difference between the best score of a row and the score of its class in got,
// and an error if that exceeds the tolerance. Two classes with nearly the same score are both correct.
func CompareClasses(name string, got []int32, scores *Image, tolerance float64) (largest float64, err error) {
	if len(got) != scores.Rows {
		return 0, fmt.Errorf("%s has %d elements, the reference has %d", name, len(got), scores.Rows)
	}
	first, wrong := -1, 0
	for i, class := range got {
		short := shortfall(scores.row(i), class)
		largest = max(largest, short)
		if !(short <= tolerance) {
			if wrong++; first < 0 {
				first = i
			}
		}
	}
	if wrong == 0 {
		return largest, nil
	}
	return largest, fmt.Errorf("%s differs from the CPU reference in %d of %d elements: first at [%d], got class %d, whose score is short of the best by %.3g",
		name, wrong, len(got), first, got[first], shortfall(scores.row(first), got[first]))
}

// shortfall returns the difference between the best score and that of a class, or +Inf for an invalid class.
func shortfall(scores []float64, class int32) float64 {
	if class < 0 || int(class) >= len(scores) {
		return math.Inf(1)
	}
	best := scores[0]
	for _, s := range scores {
		best = max(best, s)
	}
	return best - scores[class]
}
