package sharing

import (
	"slices"
	"time"
)

// gaps holds the lengths of the last gaps after a stage. They are few, so quantiles are exact, and gaps that become
// longer or shorter are the majority after half a window.
type gaps struct {
	newest []time.Duration // a ring
	sorted []time.Duration
	at     int // the oldest, once the ring is full
	sum    time.Duration
}

// window is the number of gaps that are kept.
const window = 64

// observe adds a gap, and removes the oldest if the window is full.
func (g *gaps) observe(d time.Duration) {
	if len(g.newest) < window {
		if g.newest == nil {
			g.newest, g.sorted = make([]time.Duration, 0, window), make([]time.Duration, 0, window)
		}
		g.newest = append(g.newest, d)
	} else {
		old := g.newest[g.at]
		i, _ := slices.BinarySearch(g.sorted, old)
		g.sorted = slices.Delete(g.sorted, i, i+1)
		g.sum -= old
		g.newest[g.at] = d
		g.at = (g.at + 1) % window
	}
	i, _ := slices.BinarySearch(g.sorted, d)
	g.sorted = slices.Insert(g.sorted, i, d)
	g.sum += d
}

// mean returns the mean gap, 0 if none is known.
func (g *gaps) mean() time.Duration {
	if g == nil || len(g.newest) == 0 {
		return 0
	}
	return g.sum / time.Duration(len(g.newest))
}

// known reports whether a gap has been seen.
func (g *gaps) known() bool { return g != nil && len(g.newest) > 0 }

// left returns how much longer a gap lasts that has lasted for elapsed: a quantile of the gaps in the window that
// are longer. A fraction alpha of them ends earlier.
//
// If all are shorter, nothing is known but its length so far. It then counts as a gap of a Pareto distribution with
// exponent 1, which has the median 2*elapsed.
func (g *gaps) left(alpha float64, elapsed time.Duration) time.Duration {
	first, exact := slices.BinarySearch(g.sorted, elapsed)
	for exact && first < len(g.sorted) && g.sorted[first] == elapsed {
		first++
	}
	longer := g.sorted[first:]
	if len(longer) == 0 {
		return time.Duration(float64(elapsed) * alpha / (1 - alpha))
	}
	return longer[int(alpha*float64(len(longer)))] - elapsed
}

// after returns the shortest gap in the window that is longer than elapsed, or never. Until then, left only decreases.
func (g *gaps) after(elapsed time.Duration) time.Duration {
	for _, d := range g.sorted {
		if d > elapsed {
			return d
		}
	}
	return never
}
