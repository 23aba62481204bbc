package interp

import "github.com/reprise-gpu/reprise/device/unit"

// Launch is one run of a kernel over a grid.
type Launch struct {
	Grid, Block [3]uint32
	Shared      uint32 // dynamic shared memory, bytes
	Params      []byte // parameter block
	Label       string // what faults call the launch
	// Stdout gets what the kernel prints, in grid order, when the launch is over,
	// also after a fault; nil discards it.
	Stdout Printer
	// StepLimit is how many warp instructions one block may issue before the
	// launch ends in a Timeout fault; 0 means 1<<31, about a minute of host time.
	StepLimit int64
	// Workers is how many goroutines may run blocks side by side; 0 is one for each
	// processor, if there is enough to do. What a launch leaves does not depend on it.
	Workers int
	// Resident is how many blocks the device holds at once, 0 for 1024. A block that
	// waits for one that cannot begin waits for ever.
	Resident int64
	// Cooperative gives the blocks the workspace that grid-wide barriers need. The
	// grid must not have more than Resident blocks.
	Cooperative bool
	// Start is when the launch starts on the device's clock, in nanoseconds, and
	// ClockMHz the rate of its cycles, 0 for 1000: what %globaltimer and %clock show.
	Start, ClockMHz int64
	// Multiprocessors is what %nsmid shows, 0 for 1, and Number what %gridid does.
	Multiprocessors, Number uint32
	// Sample, when positive, is how many blocks to run, spread evenly over the
	// grid; counts are scaled to the whole grid. The memory that the launch
	// leaves is then not what the kernel would compute.
	Sample int64
	// CacheBytes is what a block has of its multiprocessor's L1 cache; 0 is none.
	CacheBytes int
	// Record, when set, is filled with the bytes the launch touched.
	Record *Record

	workspace uint64 // of a cooperative launch
}

// Stats is what a launch executed, summed over all warps.
type Stats struct {
	Blocks    int64
	Warps     int64
	WarpInsts int64 // warp instructions issued
	LaneInsts int64 // the same, counted per active lane
	Flops     int64 // floating-point operations of lanes, a fused multiply-add two
	// Work is the machine instructions they become, by the unit that completes
	// them; those of the memory unit are wavefronts, as many as bank conflicts and
	// scattered addresses make.
	Work unit.Work
	// Path is the critical path of a block alone on a multiprocessor, in the mean
	// over all blocks, and Slowest that of the slowest.
	Path, Slowest Path

	SectorsRead   int64 // 32-byte sectors of global memory after coalescing within a warp
	SectorsWrite  int64
	SectorsMissed int64 // of those read, what a block's share of L1 does not have: an estimate
	Atomics       int64 // lane operations of atom and red
	// Updates is the operations L2 does for them, those on one word one after
	// another, and UpdatedLines over how many 128-byte lines they are spread:
	// estimates.
	Updates, UpdatedLines int64
	// Touched lists the allocations the launch read or wrote, by address. It and
	// Extents are overwritten when the kernel runs again.
	Touched []Touch
	// Visits lists the pages of managed memory that it touched, nil when there are none; of a
	// sampled launch those that the blocks which ran did.
	Visits []Visit
	// Extents says how much of each, in the same order.
	Extents []Extent
	// Growth is how what a launch touches grows with its blocks, as a power of
	// their number: 1 when each block has its own bytes, 0 when they all share them.
	Growth float64
}

// Path is a chain of instructions of which each waits for the one before: the
// cycles that takes, but for the round trips to global memory, which are counted.
type Path struct{ Cycles, Trips float64 }

// Touch is one allocation that a launch accessed.
type Touch struct {
	Base          uint64 // the address Alloc gave
	Read, Written bool
}
