package tenancy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestNobodyIsBlamedForASlowDevice makes all rounds slower at once, as other work on the device does, and later quick
// again. No tenant is the cause.
func TestNobodyIsBlamedForASlowDevice(t *testing.T) {
	for _, tenants := range []int{2, 3, 8, 23} {
		factor := time.Duration(2)
		x := newShop(t, tenants, 0, func(n int) time.Duration { return waves(n) * factor / 2 })
		stop := false
		var submit func(i int)
		submit = func(i int) {
			x.submit(i, x.Now(), func() {
				if !stop {
					submit(i)
				}
			})
		}
		for i := range tenants {
			submit(i)
		}
		for _, factor = range []time.Duration{2, 3, 2, 4, 2} {
			for range 100 {
				x.step(t, never)
			}
		}
		assert.Zero(t, x.Stats().Stragglers, "%d tenants", tenants)
		stop = true
		for x.Busy() {
			x.step(t, never)
		}
	}
}
