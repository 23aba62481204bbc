package tenancy

import (
	"maps"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"
)

// fit predicts the time of a round of n instances from the rounds so far:
//
//	T(n) = a + w ceil(n/period) + p n
//
// a is the cost of any round, w that of a wave of blocks over the device, and p that of an instance. The period is the
// number of instances that fill a wave: multiprocessors times resident blocks, over the blocks of an instance. The three
// are fitted to the mean times of the counts seen, by least squares with a slight preference for small ones, since few
// different counts may have been seen. They are at least 0.
type fit struct {
	period float64 // instances in a wave; 0 if unknown, and then there are no waves
	mean   map[int]float64
	warm   map[int]bool // the counts that were observed at least twice
	a      float64      // ns, as are w and p
	w, p   float64
	solved map[int]float64 // the means that a, w and p are fitted to
	stale  bool            // means have changed since
}

const (
	// keep is the weight of the mean so far when an observation comes in.
	keep = 0.75
	// moved is the relative change of a mean from which the coefficients are fitted again.
	moved = 0.01
	// fitRidge is the weight of the preference for small coefficients, relative to that of the observations.
	fitRidge = 1e-6
)

func newFit(period float64) *fit {
	return &fit{period: period, mean: map[int]float64{}, warm: map[int]bool{}, solved: map[int]float64{}}
}

// observe records that a round of n instances took t. The second observation of n replaces the first, which is of a graph
// that was just built: all of its slots were written.
func (f *fit) observe(n int, t time.Duration) {
	was, ok := f.mean[n]
	if !f.warm[n] {
		was, f.warm[n] = float64(t), ok
	}
	now := keep*was + (1-keep)*float64(t)
	f.mean[n] = now
	if math.Abs(now-f.solved[n]) > moved*now {
		f.stale = true
	}
}

// settled reports whether rounds of n instances were observed at least twice.
func (f *fit) settled(n int) bool { return f.warm[n] }

// known reports whether any round was observed.
func (f *fit) known() bool { return len(f.mean) > 0 }

// exceeds reports whether a round of n instances took more than a factor of the usual time of n, or of the least number
// above n that was observed. More instances never take less time, so a round that is slow by that measure is slow. Rounds
// of fewer instances are judged in this way during the search for a straggler, when few sizes are known.
func (f *fit) exceeds(n int, took time.Duration, factor float64) bool {
	least := 0
	for m := range f.mean {
		if m >= n && (least == 0 || m < least) {
			least = m
		}
	}
	return least > 0 && float64(took) > factor*f.mean[least]
}

// predict returns the time of a round of n instances: the mean of those seen, or else the fitted formula. It is 0
// before the first observation.
func (f *fit) predict(n int) time.Duration {
	if t, ok := f.mean[n]; ok {
		return time.Duration(t)
	}
	f.solve()
	return time.Duration(f.a + f.w*f.waves(n) + f.p*float64(n))
}

// waves returns the number of waves of a round.
func (f *fit) waves(n int) float64 {
	if f.period <= 0 {
		return 0
	}
	return math.Ceil(float64(n)/f.period - 1e-9)
}

// fills reports whether one more instance begins another wave.
func (f *fit) fills(n int) bool { return f.waves(n+1) > f.waves(n) && f.period > 1 }

// solve fits a, w and p. A negative coefficient is set to 0 and the others are fitted again.
func (f *fit) solve() {
	if !f.stale {
		return
	}
	f.stale = false
	maps.Copy(f.solved, f.mean)
	use := [3]bool{true, f.period > 0, true}
	for range use {
		x := f.leastSquares(use)
		negative := false
		for i, v := range x {
			if use[i] && v < 0 {
				use[i], negative = false, true
			}
		}
		if !negative {
			f.a, f.w, f.p = x[0], x[1], x[2]
			return
		}
	}
	f.a, f.w, f.p = 0, 0, 0
}

// leastSquares fits the coefficients in use; the others are 0.
func (f *fit) leastSquares(use [3]bool) (x [3]float64) {
	normal, right := mat.NewSymDense(3, nil), mat.NewVecDense(3, nil)
	var squares [3]float64
	for n, t := range f.mean {
		row := [3]float64{1, f.waves(n), float64(n)}
		for i := range row {
			if !use[i] {
				row[i] = 0
			}
			squares[i] += row[i] * row[i]
		}
		for i := range row {
			right.SetVec(i, right.AtVec(i)+row[i]*t)
			for j := i; j < 3; j++ {
				normal.SetSym(i, j, normal.At(i, j)+row[i]*row[j])
			}
		}
	}
	for i := range use {
		ridge := fitRidge * squares[i]
		if !use[i] {
			ridge = 1
		}
		normal.SetSym(i, i, normal.At(i, i)+ridge)
	}
	var solved mat.VecDense
	var factored mat.Cholesky
	if !factored.Factorize(normal) || factored.SolveVecTo(&solved, right) != nil {
		return x
	}
	for i := range x {
		if use[i] {
			x[i] = solved.AtVec(i)
		}
	}
	return x
}
