package des

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/device/model"
)

// The published figures that the H200 profile was derived from come out again.
func TestH200ReproducesPublishedFigures(t *testing.T) {
	cycles := float64(h200.BlockLatency+h200.WarpLatency) * h200.ClockMHz / 1e6 // an empty block
	null := func(e *Engine, n int) model.Time {
		var deps []TaskID
		for range n {
			deps = []TaskID{e.Add(Task{Deps: deps, Gap: h200.GraphEdgeGap, Data: kernel(1, 32, cycles)})}
		}
		return e.Drain()
	}
	assert.InDelta(t, 53, float64(null(demanding(h200), 100))/float64(model.Microsecond), 3, "100 empty kernels in a line, us")
	assert.InDelta(t, 567, float64(null(demanding(h200), 1025))/float64(model.Microsecond), 15, "1025 empty kernels in a line, us")
	h := h200.Host
	assert.InDelta(t, 16, float64(h.Instantiate+10*h.InstantiateOne)/float64(model.Microsecond), 1.5, "instantiate 10 nodes, us")
	assert.InDelta(t, 1526, float64(h.Instantiate+1025*h.InstantiateOne)/float64(model.Microsecond), 2, "instantiate 1025 nodes, us")
	start := h.Launch + h200.SubmitLatency
	assert.InDelta(t, 4.6, float64(start)/float64(model.Microsecond), 0.1, "null kernel, call to start, us")
}
