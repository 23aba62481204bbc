package timings

import (
	"math"
	"time"
)

// Mean returns the mean of the times in the window, 0 for an empty one. It takes O(size).
func (w *Window) Mean() time.Duration {
	if len(w.ring) == 0 {
		return 0
	}
	sum := int64(0)
	for _, v := range w.ring {
		sum += v / int64(len(w.ring)) // the sum might overflow
	}
	return time.Duration(sum)
}

// After returns the least time in the window above elapsed. If there is none, it is the greatest time.Duration. While a
// gap has not lasted for that time, what Left returns decreases as time passes.
func (w *Window) After(elapsed time.Duration) time.Duration {
	if at := w.above(int64(elapsed)); at < len(w.sorted) {
		return time.Duration(w.sorted[at])
	}
	return math.MaxInt64
}

// Overrun returns the expected time by which work that takes d outlasts a gap that has lasted for elapsed, by the same
// rules as Left. It is d for an empty window, and takes O(size).
func (w *Window) Overrun(elapsed, d time.Duration) time.Duration {
	if len(w.sorted) == 0 {
		return d
	}
	longer := w.sorted[w.above(int64(elapsed)):]
	if len(longer) == 0 { // d less the integral of elapsed/(elapsed+x) for x up to d
		e := float64(max(elapsed, 1))
		return d - time.Duration(e*math.Log1p(float64(d)/e))
	}
	sum := time.Duration(0)
	for _, gap := range longer {
		over := d - (time.Duration(gap) - elapsed)
		if over <= 0 {
			break
		}
		sum += over
	}
	return sum / time.Duration(len(longer))
}
