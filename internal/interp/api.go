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
	Stdout Printer
	// StepLimit is the number of warp instructions that one block may issue before the
	// launch ends in a Timeout fault. 0 means 1<<31, about a minute of host time.
	StepLimit int64
	// Workers is the maximum number of goroutines that run blocks concurrently. 0 means one
	// for each processor if the grid is large enough. The result of a launch does not
	// depend on it.
	Workers int
	// Resident is the number of blocks that the device runs at once, 0 for 1024. A block
	// that waits for a block that cannot start waits for ever.
	Resident int64
	// Cooperative gives the blocks the workspace that grid-wide barriers need. The grid
	// must not have more than Resident blocks.
	Cooperative bool
	// Start is the time of the launch on the device's clock, in nanoseconds. ClockMHz is
	// the rate of its cycles, 0 for 1000. %globaltimer and %clock return them.
	Start, ClockMHz int64
	// Multiprocessors is the value of %nsmid, 0 for 1, and Number that of %gridid.
	Multiprocessors, Number uint32
	// Sample, if positive, is the number of blocks to run, spread evenly over the grid.
	// Counts are scaled to the whole grid. The contents of memory are then not those that
	// the kernel computes.
	Sample int64
	// CacheBytes is a block's share of its multiprocessor's L1 cache, in bytes; 0 means
	// none.
	CacheBytes int
	// MemoryCycles is how many cycles the memory unit needs for an instruction with one wavefront; 0 means 1.
	MemoryCycles int64
	// Record, if not nil, is filled with the bytes that the launch touched.
	Record *Record
	// Declared are bytes of buffers outside of which a block may not access them. A Record reports the others as hazards.
	Declared []Declared

	workspace uint64 // of a cooperative launch
}

// Stats describes what a launch executed, summed over all warps. Figures of a sampled
// launch are scaled to the whole grid.
type Stats struct {
	Blocks    int64
	Warps     int64
	WarpInsts int64 // warp instructions issued
	LaneInsts int64 // the same, counted per active lane
	Flops     int64 // floating-point operations of lanes, a fused multiply-add two
	// Work is the number of machine instructions by the unit that executes them. For the
	// memory unit it counts wavefronts, which bank conflicts and scattered addresses
	// multiply.
	Work unit.Work
	// Path is the critical path of a block that has a multiprocessor to itself, the mean
	// over all blocks. Slowest is that of the slowest block.
	Path, Slowest Path

	SectorsRead   int64 // 32-byte sectors of global memory after coalescing within a warp
	SectorsWrite  int64
	SectorsMissed int64 // estimate of the sectors read that a block's share of L1 does not contain
	Atomics       int64 // lane operations of atom and red
	// Updates is the number of operations that L2 performs for the atomics; those on one
	// word are serial. UpdatedLines is the number of 128-byte lines that they touch. Both
	// are estimates.
	Updates, UpdatedLines int64
	// Pairing is the ratio of the sectors in the aligned pairs that went to L2 to the sectors that went there: from 1, if both of each pair did, to 2.
	Pairing float64
	// Touched lists the allocations that the launch read or wrote, by address. The next run
	// of the kernel overwrites Touched and Extents.
	Touched []Touch
	// Visits lists the pages of managed memory that the launch touched, or is nil. A
	// sampled launch lists those of the blocks that ran.
	Visits []Visit
	// Extents lists, for each allocation in Touched, the size of the part that was touched.
	Extents []Extent
	// Growth is the exponent by which the memory touched grows with the number of blocks: 1
	// if each block has bytes of its own, 0 if all blocks share them.
	Growth float64
}

// Path is a chain of dependent instructions: its length in cycles, apart from the round
// trips to global memory, the number of these trips, and the number of barriers that it passes.
type Path struct{ Cycles, Trips, Barriers float64 }

// Touch is one allocation that a launch accessed.
type Touch struct {
	Base          uint64 // the address that Alloc returned
	Read, Written bool
}
