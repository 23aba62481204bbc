package optimizer

import (
	"cmp"
	"math"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/unit"
	"github.com/reprise-gpu/reprise/ir"
)

// Figures of merged launches on the simulated device, for kernels of the benchmarks, rounded up. A block first finds its
// part and loads the arguments.
const (
	selectCycles       = 30 // latency of that, in cycles
	selectInstructions = 2  // warp instructions of that, of each of the units integer, memory and branch
	// mixtureShare is by how much blocks take longer if parts differ: a block that takes the share r of the longest
	// one's time lengthens that by mixtureShare·(1-r), because both use the same caches.
	mixtureShare = 0.5
)

// together returns the demand of a merged launch, from those of its parts. Blocks, instructions and bytes add up, and a
// block takes as long as the mean block of the parts. A block has the threads of the largest part, and the registers and
// the shared memory of the most demanding one: resident is how many of them a multiprocessor holds (see residentBlocks).
func together(p *model.Profile, op *ir.Op, parts []mergedPart, demands []model.Demand, resident float64) model.Demand {
	sum := model.Demand{Kind: model.Kernel, PerSM: resident}
	spread, lines := false, 0.0
	longer := mixture(demands)
	for i, d := range demands {
		sum.Blocks += d.Blocks
		for u := range d.Work {
			sum.Work[u] += d.Work[u]
		}
		warps := d.Blocks * float64(warpsOf(parts[i].Launch))
		for _, u := range []unit.Unit{unit.Integer, unit.Memory, unit.Branch} {
			sum.Work[u] += selectInstructions * warps
		}
		sum.Bytes += d.Bytes
		sum.L2Bytes += d.L2Bytes
		sum.LinkIn += d.LinkIn
		sum.LinkOut += d.LinkOut
		sum.Faulted += d.Faulted
		sum.Bulk += d.Bulk
		sum.Memory = sum.Memory || d.Memory
		sum.Updates += d.Updates
		sum.Lines += d.Lines
		lines = max(lines, d.Lines)
		spread = spread || d.Updates > 0 && d.Lines == 0
	}
	for i, d := range demands {
		begin := selectCycles + surplus(p, op.Launch, &parts[i]) + crowding(p, op.Launch, &parts[i], &d, &sum)
		sum.BlockCycles += d.Blocks * (d.BlockCycles*longer + begin)
		sum.SlowestCycles = max(sum.SlowestCycles, max(d.BlockCycles, d.SlowestCycles)*longer+begin)
	}
	sum.BlockCycles /= sum.Blocks
	switch {
	case spread:
		sum.Lines = 0
	case writeSameLine(op.Uses):
		sum.Lines = lines
	}
	return sum
}

// mixture returns the factor by which blocks take longer because parts differ.
func mixture(demands []model.Demand) float64 {
	shortest, longest := math.Inf(1), 1.0
	for _, d := range demands {
		shortest, longest = min(shortest, d.BlockCycles), max(longest, d.BlockCycles)
	}
	return 1 + mixtureShare*(1-min(1, shortest/longest))
}

// surplus returns the cycles in which a block starts the warps that it has more than the blocks of a part.
func surplus(p *model.Profile, l *ir.Launch, part *mergedPart) float64 {
	return float64(warpsOf(l)-warpsOf(part.Launch)) * float64(p.WarpLatency) / float64(model.Microsecond) * p.ClockMHz
}

// crowding returns the cycles by which the barriers of a part take longer in a merged launch, because a multiprocessor
// holds more warps at once than of the part alone. d has the demand of the part, and sum the number of all blocks and of
// those that are resident.
func crowding(p *model.Profile, l *ir.Launch, part *mergedPart, d, sum *model.Demand) float64 {
	warps := func(l *ir.Launch, d *model.Demand) int {
		return warpsOf(l) * des.Present(uint64(d.Blocks), int(d.PerSM), p.SMs)
	}
	return float64(des.BarrierCycles * part.Barriers * max(0, warps(l, sum)-warps(part.Launch, d)))
}

// warpsOf returns the number of warps of a block.
func warpsOf(l *ir.Launch) int { return (int(l.Block.Count()) + 31) / 32 }

// residentBlocks returns how many blocks of a merged launch a multiprocessor holds, at least one. The registers of a
// part are not known, only that its blocks fit. The merged kernel is assumed to have the most registers with which every
// part fits, and those that hold the arguments of a part, which it loads first.
func residentBlocks(limits *model.Limits, l *ir.Launch, parts []mergedPart, demands []model.Demand) float64 {
	registers := 0
	for i, d := range demands {
		registers = max(registers, maxRegisters(limits, int(parts[i].Launch.Block.Count()), int(d.PerSM)))
	}
	registers = min(maxThreadRegisters, registers+2*((len(l.Args)+len(parts)-1)/len(parts)))
	blocks, _ := limits.Occupancy(int(l.Block.Count()), registers, int(l.Shared))
	for _, d := range demands {
		blocks = min(blocks, int(d.PerSM))
	}
	return float64(max(1, blocks))
}

// maxResident returns how many blocks of a merged launch a multiprocessor holds, at least one, if it needs no more
// registers than the blocks of each part.
func maxResident(limits *model.Limits, l *ir.Launch, demands []model.Demand) float64 {
	blocks, _ := limits.Occupancy(int(l.Block.Count()), 0, int(l.Shared))
	most := float64(blocks)
	for _, d := range demands {
		most = min(most, d.PerSM)
	}
	return max(1, most)
}

// maxThreadRegisters is the limit of registers of a thread since compute capability 3.5.
const maxThreadRegisters = 255

// maxRegisters returns the largest number of registers of a thread with which a number of blocks fit on a multiprocessor.
func maxRegisters(limits *model.Limits, threads, blocks int) int {
	for registers := maxThreadRegisters; registers > 0; registers-- {
		if fit, _ := limits.Occupancy(threads, registers, 0); fit >= blocks {
			return registers
		}
	}
	return 1
}

// lineBytes is the length of a cache line.
const lineBytes = 128

// writeSameLine reports whether two different ranges that an operation writes have a cache line in common. Atomic
// operations on one line are performed one after another.
func writeSameLine(uses []ir.Access) bool {
	writes := slices.DeleteFunc(slices.Clone(uses), func(a ir.Access) bool { return !a.Mode.Writes() || a.Empty() })
	slices.SortFunc(writes, func(a, b ir.Access) int { return cmp.Or(cmp.Compare(a.Buffer, b.Buffer), cmp.Compare(a.Lo, b.Lo)) })
	for i := 1; i < len(writes); i++ {
		a, b := writes[i-1], writes[i]
		if a.Buffer == b.Buffer && (a.Hi-1)/lineBytes >= b.Lo/lineBytes {
			return true
		}
	}
	return false
}
