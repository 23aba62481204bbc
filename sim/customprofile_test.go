package sim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/des"
)

// TestProfilesInCodeHaveTheBoundsOfFiles opens devices with figures that no file could hold. With some of them, work
// could never end.
func TestProfilesInCodeHaveTheBoundsOfFiles(t *testing.T) {
	for _, p := range des.Profiles() {
		require.NoError(t, p.Check())
	}
	for what, set := range map[string]func(p *des.Profile){
		"link_gbps":       func(p *des.Profile) { p.LinkGBps = math.NaN() },
		"memory_gbps":     func(p *des.Profile) { p.MemoryGBps = math.SmallestNonzeroFloat64 },
		"clock_mhz":       func(p *des.Profile) { p.ClockMHz = math.Inf(1) },
		"memory_share":    func(p *des.Profile) { p.MemoryShare = -1 },
		"multiprocessors": func(p *des.Profile) { p.SMs = 0 },
		"call_launch_ns":  func(p *des.Profile) { p.Host.Launch = math.MaxInt64 },
		"stream_gap_ns":   func(p *des.Profile) { p.StreamGap = -1 },
		"":                func(p *des.Profile) { *p = des.Profile{} },
	} {
		p := *des.Profiles()[0]
		set(&p)
		_, err := New(Options{Custom: &p})
		assert.ErrorContains(t, err, what)
		assert.ErrorContains(t, err, "must be from")
	}
}
