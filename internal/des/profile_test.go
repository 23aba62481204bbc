package des

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLookup(t *testing.T) {
	p, err := Lookup("h200")
	require.NoError(t, err)
	assert.Equal(t, "NVIDIA H200", p.Name)
	_, err = Lookup("h2000")
	assert.EqualError(t, err, `no device profile is called "h2000"; known profiles: h200, a100, v100, p100, gtx1660s, gtx960, or the path of a file that ends in .json`)
}

func TestProfilesAreComplete(t *testing.T) {
	for _, p := range Profiles() {
		assert.Positive(t, p.SMs, p.ID)
		assert.Positive(t, p.MaxKernels, p.ID)
		assert.Positive(t, p.Limits.Occupancy(1024, 32, 0), p.ID)
		assert.GreaterOrEqual(t, p.SMGBps*float64(p.SMs), p.MemoryGBps, "%s: all multiprocessors together reach the peak", p.ID)
		for _, gap := range []Time{p.StreamGap, p.EventGap, p.GraphEdgeGap, p.GraphRootGap, p.GraphBodyGap} {
			assert.Positive(t, gap, p.ID)
			assert.Less(t, gap, retireAfter, "%s: Retire relies on it", p.ID)
		}
	}
}

// The published figures that the H200 profile was derived from come out again.
func TestH200ReproducesPublishedFigures(t *testing.T) {
	null := func(e *Engine, n int) Time {
		var deps []TaskID
		for range n {
			deps = []TaskID{e.Add(Task{Deps: deps, Gap: h200.GraphEdgeGap, Data: kernel(1, 32, 1)})}
		}
		return e.Drain()
	}
	assert.InDelta(t, 53, float64(null(demanding(&h200), 100))/float64(Microsecond), 3, "100 empty kernels in a line, us")
	assert.InDelta(t, 567, float64(null(demanding(&h200), 1025))/float64(Microsecond), 15, "1025 empty kernels in a line, us")
	h := h200.Host
	assert.InDelta(t, 16, float64(h.Instantiate+10*h.InstantiateOne)/float64(Microsecond), 1.5, "instantiate 10 nodes, us")
	assert.InDelta(t, 1526, float64(h.Instantiate+1025*h.InstantiateOne)/float64(Microsecond), 2, "instantiate 1025 nodes, us")
	start := h.Launch + h200.SubmitLatency
	assert.InDelta(t, 4.6, float64(start)/float64(Microsecond), 0.1, "null kernel, call to start, us")
}
