package reference

import (
	"fmt"
	"math"
)

// Observations are what the benchmark ML starts from: rows of whole features, and
// the coefficients of its two classifiers.
type Observations struct {
	Rows                int
	X                   []int32   // rows x features
	LogProb, LogPrior   []float32 // naive Bayes: classes x features, classes
	Weights, Intercepts []float32 // ridge regression: classes x features, classes
}

// Ensemble is what the two classifiers make of each row: images of rows x classes.
type Ensemble struct {
	Bayes, Ridge *Image // after softmax
	Scores       *Image // their sum
}

// ML classifies each row by naive Bayes and by ridge regression on normalised
// features, and adds up what they say.
//
// The benchmark's own CPU version takes the log-sum-exp of all rows where its GPU
// code takes that of each, and its GPU code normalises by a column-major walk over a
// row-major matrix; here both are by the book.
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

// columns returns the mean of each feature and the inverse of its deviation, 0 where
// that is 0.
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
		if v > 1e-12 { // the features are whole numbers: less is a constant column's rounding
			scales[j] = 1 / math.Sqrt(v)
		}
	}
	return means, scales
}

// softmax brings each row to positive numbers that add up to 1. To take out the row's
// greatest number changes nothing and keeps exp in range. Of the logarithms of
// likelihoods it is Bayes' rule, which the program computes as exp(r - log-sum-exp).
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

// CompareClasses returns by how much the score of a class in got falls short of its
// row's best at most, and an error where that exceeds the tolerance: two classes
// with nearly the same score are both right.
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

// shortfall is how far the score of a class is from the best, +Inf for what is no
// class.
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
