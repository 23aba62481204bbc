package des

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// The whole takes no less than any part and no more than all one after the other, and no less if a part grows. Pipes are
// one part.
func TestOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 2))
	for range 1000 {
		var o, longer overlap
		sum, most := 0.0, 0.0
		for range 1 + r.IntN(6) {
			l := []Limit{Issue, FMA, LSU, L2, DRAM, Latency, Atomics}[r.IntN(7)]
			part := math.Pow(10, 6*r.Float64())
			o.add(l, part)
			longer.add(l, part*(1+r.Float64()))
			sum += part
			most = max(most, part)
		}
		const tolerance = 1e-12
		require.GreaterOrEqual(t, o.whole()*(1+tolerance), most)
		require.LessOrEqual(t, o.whole(), sum*(1+tolerance))
		require.LessOrEqual(t, o.whole(), longer.whole())
	}
	var o overlap
	o.add(FMA, 3)
	o.add(Issue, 4)
	assert.Equal(t, 4.0, o.whole())
	o.add(DRAM, 4)
	assert.InDelta(t, 4*math.Pow(2, 0.25), o.whole(), 1e-12)
}

// A kernel never takes less when it has more of anything to do.
func TestMoreWorkTakesNoLess(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 3))
	p := profiles.All()[0]
	for range 300 {
		d := model.Demand{
			Kind: model.Kernel, Blocks: float64(1 + r.IntN(5000)), PerSM: float64(1 + r.IntN(16)), BlockCycles: 10000 * r.Float64(),
			Bytes: 1e8 * r.Float64(), L2Bytes: 1e8 * r.Float64(), Updates: 1e4 * r.Float64(), Memory: r.IntN(2) == 0,
			Work: unit.Work{unit.FP32: 1e6 * r.Float64(), unit.Memory: 1e6 * r.Float64()},
		}
		base := spans(p, d)[0].End
		for name, change := range map[string]func(d *model.Demand){
			"latency":  func(d *model.Demand) { d.BlockCycles *= 1.3 },
			"memory":   func(d *model.Demand) { d.Bytes *= 1.3 },
			"L2":       func(d *model.Demand) { d.L2Bytes *= 1.3 },
			"floats":   func(d *model.Demand) { d.Work[unit.FP32] *= 1.3 },
			"loads":    func(d *model.Demand) { d.Work[unit.Memory] *= 1.3 },
			"atomics":  func(d *model.Demand) { d.Updates *= 1.3 },
			"accesses": func(d *model.Demand) { d.Memory = true },
		} {
			more := d
			change(&more)
			require.GreaterOrEqual(t, spans(p, more)[0].End, base, name)
			require.GreaterOrEqual(t, spans(p, more)[0].End, LeastTime(p, more), name)
		}
	}
}

func TestPartitionedCachesHoldHalf(t *testing.T) {
	for _, p := range profiles.All() {
		want := p.L2Bytes
		if p.ID == "h200" || p.ID == "a100" {
			want /= 2
		}
		assert.Equal(t, want, CacheBytes(p), p.ID)
	}
}

// Compute capabilities tell the chips of data centres from others, also those that have no profile yet.
func TestDataCentre(t *testing.T) {
	for capability, want := range map[[2]int]bool{
		{5, 0}: false, {6, 0}: true, {6, 1}: false, {7, 0}: true, {7, 5}: false, {8, 0}: true, {8, 6}: false, {8, 9}: false,
		{9, 0}: true, {10, 0}: true, {10, 3}: true, {11, 0}: false, {12, 0}: false, {12, 1}: false,
	} {
		p := &model.Profile{ComputeMajor: capability[0], ComputeMinor: capability[1], L2Bytes: 8}
		assert.Equal(t, want, DataCentre(p), capability)
		if want && capability[0] >= 8 {
			assert.Equal(t, int64(4), CacheBytes(p), capability)
		} else {
			assert.Equal(t, int64(8), CacheBytes(p), capability)
		}
	}
}
