package sim

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/interp"
)

// Launched describes a launch and its statistics. Those of a sampled launch are scaled to the whole grid.
type Launched struct {
	Kernel      string
	Grid, Block [3]uint32
	Registers   int // 32-bit registers per thread: an estimate
	Shared      int // bytes per block, static and dynamic

	PerSM  int     // resident blocks per multiprocessor
	HeldBy string  // what limits PerSM: threads, blocks, registers, shared memory; "grid" if there are too few blocks to reach it
	Warps  float64 // fraction of the device's warps that the grid fills while all its blocks are resident

	WarpInsts, LaneInsts int64
	Flops                int64   // of single lanes; a fused multiply-add counts two
	L2Bytes              float64 // between the multiprocessors and L2
	DRAMBytes            float64 // between L2 and device memory
	LinkBytes            float64 // over the host link

	Demand model.Demand // determines the duration

	BlockWarps float64 // warps of a block
}

// launched describes a launch for a time line.
func (d *Device) launched(j *job, s *interp.Stats, m *model.Demand) *Launched {
	l, limits := &j.launch, &d.profile.Limits
	threads := int(l.Block[0] * l.Block[1] * l.Block[2])
	shared := int(l.Shared) + j.kernel.code.SharedStatic()
	perSM, by := limits.Occupancy(threads, j.kernel.code.Registers(), shared)
	slots, held := float64(perSM*d.profile.SMs), by
	if m.Blocks < slots {
		slots, held = m.Blocks, "grid"
	}
	return &Launched{
		Kernel: j.kernel.name, Grid: l.Grid, Block: l.Block,
		Registers: j.kernel.code.Registers(), Shared: shared,
		PerSM: perSM, HeldBy: held, Warps: slots * j.warps() / float64(limits.ThreadsPerSM/warpSize*d.profile.SMs),
		WarpInsts: s.WarpInsts, LaneInsts: s.LaneInsts, Flops: s.Flops,
		L2Bytes: m.L2Bytes, DRAMBytes: m.Bytes, LinkBytes: m.LinkIn + m.LinkOut,
		Demand: *m, BlockWarps: j.warps(),
	}
}
