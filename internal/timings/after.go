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
