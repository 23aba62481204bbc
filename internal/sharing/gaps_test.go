package sharing

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestGaps compares quantiles and means with those of a sorted copy of the last gaps.
func TestGaps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var g gaps
	var all []time.Duration
	assert.False(t, g.known())
	for range 1000 {
		d := time.Duration(r.IntN(50))
		g.observe(d)
		all = append(all, d)
		last := slices.Clone(all[max(0, len(all)-window):])
		slices.Sort(last)
		sum := time.Duration(0)
		for _, d := range last {
			sum += d
		}
		assert.Equal(t, sum/time.Duration(len(last)), g.mean())
		elapsed, alpha := time.Duration(r.IntN(60)), r.Float64()*0.9
		longer := slices.DeleteFunc(slices.Clone(last), func(d time.Duration) bool { return d <= elapsed })
		if len(longer) == 0 {
			assert.Equal(t, time.Duration(float64(elapsed)*alpha/(1-alpha)), g.left(alpha, elapsed))
			assert.Equal(t, never, g.after(elapsed))
			continue
		}
		assert.Equal(t, longer[int(alpha*float64(len(longer)))]-elapsed, g.left(alpha, elapsed))
		assert.Equal(t, longer[0], g.after(elapsed))
	}
}
