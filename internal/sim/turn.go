package sim

import (
	"math"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// A turn is the time that a block keeps its slot, from the end of the block before it, if nothing limits the throughput:
//
//	├─ start ─┼─ path of the block ──────────────────────────┼─ barriers ─┤
//	 latency   cycles of dependent instructions, and a trip    each waits for the warps
//	 of block  for every load that the next one waits for      of the multiprocessor
//	 and warps

const warpSize = 32 // threads

// turn returns the cycles of a turn. trip is the length of a round trip to memory, in cycles.
func (d *Device) turn(j *job, p interp.Path, trip float64) float64 {
	warps := j.warps()
	start := float64(d.profile.BlockLatency) + float64(d.profile.WarpLatency)*warps
	barrier := des.BarrierCycles * warps * float64(des.Present(j.blocks(), int(j.perSM), d.profile.SMs))
	return start*d.profile.ClockMHz/1e6 + p.Cycles + p.Trips*trip + p.Barriers*barrier
}

// blocks returns the number of blocks of a launch.
func (j *job) blocks() uint64 {
	g := j.launch.Grid
	return uint64(g[0]) * uint64(g[1]) * uint64(g[2])
}

// warps returns the number of warps of a block.
func (j *job) warps() float64 {
	b := j.launch.Block
	return math.Ceil(float64(b[0]) * float64(b[1]) * float64(b[2]) / warpSize)
}

// tripCycles returns the mean latency of a global load in cycles. The arguments are the fraction of loads that hit
// L1, and the fraction of the rest that hits L2.
func tripCycles(p *model.Profile, inL1, inL2 float64) float64 {
	return inL1*p.L1Cycles + (1-inL1)*(inL2*p.L2Cycles+(1-inL2)*p.DRAMCycles)
}

// memoryCycles returns the cycles that a multiprocessor's load and store units need for the lanes of a warp.
func memoryCycles(p *model.Profile) int64 {
	if p.Lanes[unit.Memory] == 0 {
		return 1
	}
	return int64(math.Ceil(warpSize / p.Lanes[unit.Memory]))
}
