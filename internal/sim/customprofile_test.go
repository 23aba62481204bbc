package sim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

// TestProfilesInCodeHaveTheBoundsOfFiles opens devices with figures that no file could hold. With some of them, work
// could never end.
func TestProfilesInCodeHaveTheBoundsOfFiles(t *testing.T) {
	for _, p := range profiles.All() {
		require.NoError(t, profiles.Check(p))
	}
	for what, set := range map[string]func(p *model.Profile){
		"link_gbps":       func(p *model.Profile) { p.LinkGBps = math.NaN() },
		"memory_gbps":     func(p *model.Profile) { p.MemoryGBps = math.SmallestNonzeroFloat64 },
		"clock_mhz":       func(p *model.Profile) { p.ClockMHz = math.Inf(1) },
		"memory_share":    func(p *model.Profile) { p.MemoryShare = -1 },
		"multiprocessors": func(p *model.Profile) { p.SMs = 0 },
		"call_launch_ns":  func(p *model.Profile) { p.Host.Launch = math.MaxInt64 },
		"stream_gap_ns":   func(p *model.Profile) { p.StreamGap = -1 },
		"":                func(p *model.Profile) { *p = model.Profile{} },
	} {
		p := *profiles.All()[0]
		set(&p)
		_, err := New(Options{Custom: &p})
		assert.ErrorContains(t, err, what)
		assert.ErrorContains(t, err, "must be from")
	}
}
