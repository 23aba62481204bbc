package timings

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestMeanAndAfter compares them with a loop over the latest times.
func TestMeanAndAfter(t *testing.T) {
	w := NewWindow(8, nil)
	assert.Zero(t, w.Mean())
	assert.Equal(t, time.Duration(math.MaxInt64), w.After(0))
	r := rand.New(rand.NewPCG(1, 1))
	var all []time.Duration
	for range 200 {
		d := time.Duration(r.IntN(100)) * 840 // divisible by all sizes
		w.Record(d)
		all = append(all, d)
		last := all[max(0, len(all)-8):]
		sum, after, elapsed := time.Duration(0), time.Duration(math.MaxInt64), time.Duration(r.IntN(90000))
		for _, d := range last {
			sum += d
			if d > elapsed {
				after = min(after, d)
			}
		}
		assert.Equal(t, sum/time.Duration(len(last)), w.Mean())
		assert.Equal(t, after, w.After(elapsed))
	}
}

func TestOverrun(t *testing.T) {
	w := NewWindow(8, nil)
	us := time.Microsecond
	assert.Equal(t, 7*us, w.Overrun(us, 7*us), "nothing is known")
	for _, d := range []time.Duration{10 * us, 20 * us, 40 * us} {
		w.Record(d)
	}
	assert.Equal(t, 10*us/3, w.Overrun(0, 20*us))
	assert.Equal(t, time.Duration(0), w.Overrun(11*us, 5*us))
	assert.Equal(t, (20*us-9*us)/2, w.Overrun(11*us, 20*us))
	assert.InDelta(t, float64(50*us)*(1-math.Ln2), float64(w.Overrun(50*us, 50*us)), 10, "longer than all")
}
