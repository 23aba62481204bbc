package timings

import (
	"math"
	"time"
)

// GapWindow is the number of gaps that a Window for a program's gaps should hold. Gaps that change for good have replaced all
// older ones after this many.
const GapWindow = 48

// Window holds the latest times of a series, exactly, and forgets older ones. Recording takes O(size) moves in memory,
// which is tens of nanoseconds for a few hundred times; queries are binary searches. Neither allocates. One goroutine at
// a time may use it.
//
// Invariant: sorted holds the times of ring in ascending order.
type Window struct {
	ring   []int64 // ns
	sorted []int64 // the same
	next   int     // index in ring of the oldest time, once the ring is full
}

// NewWindow returns a window of the given size, at least 1. It begins with quantiles of seed, at most as many as seed has
// times. A nil seed is allowed.
func NewWindow(size int, seed *Sketch) *Window {
	w := &Window{ring: make([]int64, 0, max(1, size)), sorted: make([]int64, 0, max(1, size))}
	if seed == nil {
		return w
	}
	n := int(min(int64(cap(w.ring)), seed.Count()))
	for i := range n {
		w.Record(seed.Quantile((float64(spread(i, n)) + 0.5) / float64(n)))
	}
	return w
}

// spread returns the i-th index of n in an order in which any prefix is spread over all indices, so that a window loses
// the quantiles of its seed evenly. It steps by a number that is near the golden section of n and prime to n.
func spread(i, n int) int {
	step := max(1, int(math.Round(float64(n)*0.618)))
	for gcd(step, n) != 1 {
		step++
	}
	return i * step % n
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Record adds a time, in place of the oldest if the window is full.
func (w *Window) Record(d time.Duration) {
	v := max(int64(d), 0)
	if len(w.ring) < cap(w.ring) {
		w.ring = append(w.ring, v)
		at := w.above(v)
		w.sorted = append(w.sorted, 0)
		copy(w.sorted[at+1:], w.sorted[at:])
		w.sorted[at] = v
		return
	}
	old := w.ring[w.next]
	w.ring[w.next] = v
	w.next = (w.next + 1) % len(w.ring)
	from := below(w.sorted, old)
	to := w.above(v)
	if to > from {
		to--
		copy(w.sorted[from:to], w.sorted[from+1:to+1])
	} else {
		copy(w.sorted[to+1:from+1], w.sorted[to:from])
	}
	w.sorted[to] = v
}

// above returns the index of the first time above v, which is the number of times of at most v.
func (w *Window) above(v int64) int { return below(w.sorted, max(v, -1)+1) }

// below returns the number of times below v, of times and v that are not negative. It is a binary search whose branches
// depend on the length alone: a wrongly predicted branch takes longer than several steps.
func below(sorted []int64, v int64) int {
	if len(sorted) == 0 {
		return 0
	}
	at := 0
	for n := len(sorted); n > 1; {
		half := n / 2
		at += half & int((sorted[at+half-1]-v)>>63) // all bits of the shifted difference are its sign
		n -= half
	}
	if sorted[at] < v {
		at++
	}
	return at
}

// Count returns the number of times in the window.
func (w *Window) Count() int { return len(w.ring) }

// Quantile returns the ceil(q·n)-th of the n times in ascending order, and the first for q = 0. It is 0 for an empty
// window.
func (w *Window) Quantile(q float64) time.Duration { return quantile(w.sorted, q) }

func quantile(sorted []int64, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	at := int(math.Ceil(q*float64(len(sorted))-slack)) - 1
	return time.Duration(sorted[min(max(at, 0), len(sorted)-1)])
}

// Left returns the time that a gap still lasts, with probability 1-q or more, if it has lasted for elapsed: the quantile
// q of the times above elapsed, less elapsed.
//
// If the window has no time above elapsed, Left continues the distribution with a Pareto tail of index 1. Of
// the gaps that last for elapsed, half then last twice as long. A host that has become slow, or idle, thus has gaps to be
// filled before its first long gap has ended. An empty window says nothing about any gap: Left returns 0.
func (w *Window) Left(q float64, elapsed time.Duration) time.Duration {
	switch longer := w.sorted[w.above(int64(elapsed)):]; {
	case len(w.sorted) == 0:
		return 0
	case len(longer) == 0:
		q = min(max(q, 0), 1-1.0/(1<<10)) // at most 1023 times as long again
		return time.Duration(float64(elapsed) * q / (1 - q))
	default:
		return quantile(longer, q) - elapsed
	}
}

// Reaches returns the first time above elapsed at which Left is at least a time: a time of the window, or one behind all of
// them. It takes O(times above elapsed · log times). q is in (0, 1). The window is not empty.
func (w *Window) Reaches(q float64, elapsed, left time.Duration) time.Duration {
	for i := w.above(int64(elapsed)); i < len(w.sorted); {
		at := w.sorted[i]
		if i = w.above(at); i < len(w.sorted) && int64(quantile(w.sorted[i:], q))-at >= int64(left) {
			return time.Duration(at)
		}
	}
	longest := time.Duration(w.sorted[len(w.sorted)-1])
	return max(longest, elapsed+1, time.Duration(math.Ceil(float64(left)*(1-q)/q)))
}

// Survival returns the probability that a gap which has lasted for elapsed lasts for longer than more in addition, by the
// same rules as Left. It is 0 for an empty window.
func (w *Window) Survival(elapsed, more time.Duration) float64 {
	longer := len(w.sorted) - w.above(int64(elapsed))
	switch {
	case len(w.sorted) == 0:
		return 0
	case longer == 0:
		return float64(elapsed) / max(1, float64(elapsed)+float64(max(more, 0)))
	}
	return float64(len(w.sorted)-w.above(int64(elapsed+max(more, 0)))) / float64(longer)
}
