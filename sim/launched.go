package sim

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/sim/interp"
)

// Launched is what a launch was, and what it counted; a sampled one is scaled to
// its whole grid.
type Launched struct {
	Kernel      string
	Grid, Block [3]uint32
	Registers   int // 32-bit, of a thread: an estimate
	Shared      int // bytes of a block, static and dynamic

	PerSM  int     // blocks that fit on a multiprocessor
	HeldBy string  // what keeps more from it: threads, blocks, registers, shared memory; "grid" when there are not enough to fill them
	Warps  float64 // share of the device's warps that the grid fills while all its blocks have a place

	WarpInsts, LaneInsts int64
	Flops                int64   // of lanes, a fused multiply-add two
	L2Bytes              float64 // between the multiprocessors and L2
	DRAMBytes            float64 // between L2 and device memory
	LinkBytes            float64 // over the host link

	Demand model.Demand // all that its time follows from
}

// launched describes a launch for the time line.
func (d *Device) launched(j *job, s *interp.Stats, m *model.Demand) *Launched {
	l, limits := &j.launch, &d.profile.Limits
	threads := int(l.Block[0] * l.Block[1] * l.Block[2])
	shared := int(l.Shared) + j.kernel.code.SharedStatic()
	perSM, by := limits.Fit(threads, j.kernel.code.Registers(), shared)
	slots, held := float64(perSM*d.profile.SMs), by.String()
	if m.Blocks < slots {
		slots, held = m.Blocks, "grid"
	}
	return &Launched{
		Kernel: j.kernel.name, Grid: l.Grid, Block: l.Block,
		Registers: j.kernel.code.Registers(), Shared: shared,
		PerSM: perSM, HeldBy: held, Warps: slots * float64(model.Warps(threads)) / float64(limits.WarpsPerSM()*d.profile.SMs),
		WarpInsts: s.WarpInsts, LaneInsts: s.LaneInsts, Flops: s.Flops,
		L2Bytes: m.L2Bytes, DRAMBytes: m.Bytes, LinkBytes: m.LinkIn + m.LinkOut,
		Demand: *m,
	}
}
