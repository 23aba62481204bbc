package profiles

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
)

func TestLookup(t *testing.T) {
	p, err := Lookup("h200")
	require.NoError(t, err)
	assert.Equal(t, "NVIDIA H200", p.Name)
	_, err = Lookup("h2000")
	assert.EqualError(t, err, `no device profile is called "h2000" (did you mean "h200"?); known profiles: h200, a100, v100, p100, gtx1660s, gtx960; from data sheets: a100-40, a40, gtx1650, h100-pcie, l40, rtx2080ti, rtx3060, rtx3060ti, rtx3090, rtx4070, rtx4090, titanv, titanx, v100-pcie; or the path of a file that ends in .json`)
}

func TestProfilesAreComplete(t *testing.T) {
	for _, p := range All() {
		assert.Positive(t, p.SMs, p.ID)
		assert.Positive(t, p.MaxKernels, p.ID)
		blocks, _ := p.Limits.Occupancy(1024, 32, 0)
		assert.Positive(t, blocks, p.ID)
		assert.GreaterOrEqual(t, p.SMGBps*float64(p.SMs), p.MemoryGBps, "%s: all multiprocessors together reach the peak", p.ID)
		for _, gap := range []model.Time{p.StreamGap, p.EventGap, p.GraphEdgeGap, p.GraphRootGap, p.GraphBodyGap} {
			assert.Positive(t, gap, p.ID)
		}
	}
}
