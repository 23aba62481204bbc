package tenancy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestRoundsAreDividedOnlyIfThatIsQuicker has all tenants submit at the same time, when all earlier requests have ended. The
// time of a burst is that of the best division. To find out whether others join leftovers takes a small share of the time.
func TestRoundsAreDividedOnlyIfThatIsQuicker(t *testing.T) {
	const wake = 2 * us
	for _, c := range []struct {
		name    string
		tenants int
		round   func(n int) time.Duration
		cold    time.Duration // more, of the first round of a count
		best    func(round func(n int) time.Duration) time.Duration
	}{
		{"the turn exceeds what two rounds save", 23, func(n int) time.Duration { return 24*us + 30*us*b(n > 3) + 25*us*b(n > 20) },
			0, func(round func(int) time.Duration) time.Duration { return round(23) + wake }},
		{"the first round of a graph is slow", 23, waves, 30 * us,
			func(round func(int) time.Duration) time.Duration { return round(23) + wake }},
		{"two rounds are quicker", 23, func(n int) time.Duration { return waves(n) + 50*us*b(n > 20) },
			0, func(round func(int) time.Duration) time.Duration { return round(20) + round(3) + 2*wake }},
	} {
		seen := map[int]bool{}
		x := newShop(t, c.tenants, 0, func(n int) time.Duration {
			first := c.cold * b(!seen[n])
			seen[n] = true
			return c.round(n) + first
		})
		x.device.wake = wake
		burst := func() time.Duration {
			begin := x.Now()
			for i := range c.tenants {
				x.submit(i, begin, nil)
			}
			for x.Busy() {
				x.step(t, never)
			}
			return x.Now() - begin
		}
		for range 10 { // sizes of rounds are tried
			burst()
		}
		sum, best := time.Duration(0), c.best(c.round)
		const bursts = 500
		for range bursts {
			sum += burst()
		}
		assert.LessOrEqual(t, sum, bursts*best*(trialShare+1)/trialShare, "%s: bursts of more than %v", c.name, best)
	}
}

// TestLeftoversAreTriedAgain has 22 tenants submit at the same time, in bursts. Then each submits again when its own request
// ends, so that rounds of 20 have more requests per time.
func TestLeftoversAreTriedAgain(t *testing.T) {
	const tenants = 22
	x := newShop(t, tenants, 0, waves)
	for range 100 {
		begin := x.Now()
		for i := range tenants {
			x.submit(i, begin, nil)
		}
		for x.Busy() {
			x.step(t, never)
		}
	}
	stop := false
	var again func(i int)
	again = func(i int) {
		x.submit(i, x.Now(), func() {
			if !stop {
				again(i)
			}
		})
	}
	for i := range tenants {
		again(i)
	}
	rate := func(rounds int) float64 {
		begin, stats := x.Now(), x.Stats()
		for range rounds {
			x.step(t, never)
		}
		return float64(x.Stats().Members-stats.Members) / (x.Now() - begin).Seconds()
	}
	rate(trialShare)
	assert.InEpsilon(t, 20/waves(20).Seconds(), rate(100), 0.02)
	stop = true
}

// b is 1 if a condition holds, and else 0.
func b(condition bool) time.Duration {
	if condition {
		return 1
	}
	return 0
}
