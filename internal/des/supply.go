package des

import (
	"math"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// pipes maps each unit to its pipe. Units of one pipe delay each other. Since Volta, integers are multiplied in the
// float pipe, and all rare operations share one pipe.
var pipes = [unit.Count]Limit{
	unit.FP32: FMA, unit.FP16: FMA, unit.Multiply: FMA,
	unit.Integer: ALU, unit.Vote: ALU,
	unit.FP64: FP64, unit.Convert64: FP64,
	unit.Special: XU, unit.Convert: XU, unit.Bits: XU,
	unit.Memory: LSU, unit.Shuffle: LSU, unit.Texture: LSU,
	unit.Branch: BRU,
	unit.Tensor: Tensor,
}

const warpSize = 32 // threads

// suppliesOf returns the capacity of each resource per ps, for the device and for one multiprocessor. The unit of pipes
// is cycles of a multiprocessor.
func suppliesOf(p *model.Profile) (device, perSM supplies) {
	limit := func(v float64) float64 {
		if v == 0 {
			return math.Inf(1)
		}
		return v
	}
	cycles := p.ClockMHz / 1e6 // per ps
	for r := range device {
		device[r], perSM[r] = math.Inf(1), math.Inf(1)
	}
	for r := Issue; r <= Tensor; r++ {
		device[r], perSM[r] = cycles*float64(p.SMs), cycles
	}
	const gbps = 1e9 / 1e12 // bytes per ps
	share := p.MemoryShare
	if share == 0 {
		share = 1
	}
	device[Dispatch] = limit(p.BlockRate) * cycles
	device[L2], perSM[L2] = limit(p.L2GBps*gbps), limit(p.SMGBps*gbps)
	device[Atomics] = limit(p.L2Slices) * cycles
	device[DRAM] = p.MemoryGBps * share * gbps
	device[LinkIn], device[LinkOut] = p.LinkGBps*gbps, p.LinkGBps*gbps
	device[Link] = limit(p.DuplexGBps * gbps)
	device[Faults] = limit(p.FaultGBps * gbps)
	return device, perSM
}

// workOf returns the amount of each resource that a kernel uses.
func workOf(d *model.Demand, p *model.Profile) (w supplies) {
	w[Dispatch] = d.Blocks
	w[Issue] = d.Work.Total() / float64(p.Limits.Schedulers)
	for u, n := range d.Work {
		if lanes := p.Lanes[u]; lanes > 0 {
			w[pipes[u]] += n * warpSize / lanes
		}
	}
	w[L2] = max(d.L2Bytes, d.Bytes)
	w[DRAM] = d.Bytes
	w[LinkIn], w[LinkOut], w[Link] = d.LinkIn, d.LinkOut, d.LinkIn+d.LinkOut
	if d.Updates > 0 && p.L2Slices > 0 {
		spread := p.L2Slices
		if d.Lines > 0 {
			spread = min(spread, d.Lines)
		}
		w[Atomics] = d.Updates * p.L2Slices / spread // slices without updates are idle
	}
	return w
}
