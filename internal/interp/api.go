package interp

import "github.com/reprise-gpu/reprise/internal/unit"

// Launch is one run of a kernel over a grid.
type Launch struct {
	Grid, Block [3]uint32
	Shared      uint32 // dynamic shared memory, bytes
	Params      []byte // parameter block
	Label       string // the name of the launch in faults
	// Stdout receives the output of the kernel, in grid order, when the launch has ended,
	// with or without a fault. If nil, the output is discarded.
	// Stdout gets what the kernel prints, in grid order, when the launch is over,
	// also after a fault; nil discards it.
	Stdout Printer
	// StepLimit is the number of warp instructions that one block may issue before the
	// launch ends in a Timeout fault. 0 means 1<<31, about a minute of host time.
	// StepLimit is how many warp instructions one block may issue before the
	// launch ends in a Timeout fault; 0 means 1<<31, about a minute of host time.
	StepLimit int64
	// Workers is the maximum number of goroutines that run blocks concurrently. 0 means one
	// for each processor if the grid is large enough. The result of a launch does not
	// depend on it.
	// Workers is how many goroutines may run blocks side by side; 0 is one for each
	// processor, if there is enough to do. What a launch leaves does not depend on it.
	Workers int
	// Resident is the number of blocks that the device runs at once, 0 for 1024. A block
	// that waits for a block that cannot start waits for ever.
	// Resident is how many blocks the device holds at once, 0 for 1024. A block that
	// waits for one that cannot begin waits for ever.
	Resident int64
	// Cooperative gives the blocks the workspace that grid-wide barriers need. The grid
	// must not have more than Resident blocks.
	// Cooperative gives the blocks the workspace that grid-wide barriers need. The
	// grid must not have more than Resident blocks.
	Cooperative bool
	// Start is the time of the launch on the device's clock, in nanoseconds. ClockMHz is
	// the rate of its cycles, 0 for 1000. %globaltimer and %clock return them.
	// Start is when the launch starts on the device's clock, in nanoseconds, and
	// ClockMHz the rate of its cycles, 0 for 1000: what %globaltimer and %clock show.
	Start, ClockMHz int64
	// Multiprocessors is the value of %nsmid, 0 for 1, and Number that of %gridid.
	// Multiprocessors is what %nsmid shows, 0 for 1, and Number what %gridid does.
	Multiprocessors, Number uint32
	// Sample, if positive, is the number of blocks to run, spread evenly over the grid.
	// Counts are scaled to the whole grid. The contents of memory are then not those that
	// the kernel computes.
	// Sample, when positive, is how many blocks to run, spread evenly over the
	// grid; counts are scaled to the whole grid. The memory that the launch
	// leaves is then not what the kernel would compute.
	Sample int64
	// CacheBytes is a block's share of its multiprocessor's L1 cache; 0 means none.
	// CacheBytes is what a block has of its multiprocessor's L1 cache; 0 is none.
	CacheBytes int
	// Record, if not nil, is filled with the bytes that the launch touched.
	// Record, when set, is filled with the bytes the launch touched.
	Record *Record

	workspace uint64 // of a cooperative launch
}

// Stats describes what a launch executed, summed over all warps.
type Stats struct {
	Blocks    int64
	Warps     int64
	WarpInsts int64 // warp instructions issued
	LaneInsts int64 // the same, counted per active lane
	Flops     int64 // floating-point operations of lanes, a fused multiply-add two
	// Work is the number of machine instructions by the unit that executes them. For the
	// memory unit it counts wavefronts, which bank conflicts and scattered addresses
	// multiply.
	// Work is the machine instructions they become, by the unit that completes
	// them; those of the memory unit are wavefronts, as many as bank conflicts and
	// scattered addresses make.
	Work unit.Work
	// Path is the critical path of a block that has a multiprocessor to itself, the mean
	// over all blocks. Slowest is that of the slowest block.
	// Path is the critical path of a block alone on a multiprocessor, in the mean
	// over all blocks, and Slowest that of the slowest.
	Path, Slowest Path

	SectorsRead   int64 // 32-byte sectors of global memory after coalescing within a warp
	SectorsWrite  int64
	SectorsMissed int64 // estimate of the sectors read that a block's share of L1 does not contain
	Atomics       int64 // lane operations of atom and red
	// Updates is the number of operations that L2 performs for the atomics; those on one
	// word are serial. UpdatedLines is the number of 128-byte lines that they touch. Both
	// are estimates.
	// Updates is the operations L2 does for them, those on one word one after
	// another, and UpdatedLines over how many 128-byte lines they are spread:
	// estimates.
	Updates, UpdatedLines int64
	// Touched lists the allocations that the launch read or wrote, by address. The next run
	// of the kernel overwrites Touched and Extents.
	// Touched lists the allocations the launch read or wrote, by address. It and
	// Extents are overwritten when the kernel runs again.
	Touched []Touch
	// Visits lists the pages of managed memory that the launch touched, or is nil. A
	// sampled launch lists those of the blocks that ran.
	// Visits lists the pages of managed memory that it touched, nil when there are none; of a
	// sampled launch those that the blocks which ran did.
	Visits []Visit
	// Extents is the size of the part of each that was touched, in the same order.
	// Extents says how much of each, in the same order.
	Extents []Extent
	// Growth is the exponent by which the memory touched grows with the number of blocks: 1
	// if each block has bytes of its own, 0 if all blocks share them.
	// Growth is how what a launch touches grows with its blocks, as a power of
	// their number: 1 when each block has its own bytes, 0 when they all share them.
	Growth float64
}

// Path is a chain of dependent instructions: its length in cycles, apart from the round
// trips to global memory, and the number of these trips.
type Path struct{ Cycles, Trips float64 }

// Touch is one allocation that a launch accessed.
type Touch struct {
	Base          uint64 // the address that Alloc returned
	Read, Written bool
}
