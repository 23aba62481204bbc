package interp

import "io"

// Launch is one run of a kernel over a grid.
type Launch struct {
	Grid, Block [3]uint32
	Shared      uint32 // dynamic shared memory, bytes
	Params      []byte // parameter block
	Label       string // what faults call the launch
	// Stdout gets what the kernel prints, in grid order, when the launch is over,
	// also after a fault; nil discards it.
	Stdout io.Writer
	// StepLimit is how many warp instructions one block may issue before the
	// launch ends in a Timeout fault; 0 means 1<<31, about a minute of host time.
	StepLimit int64
	// Workers is how many goroutines may run blocks side by side; 0 is one for each
	// processor, if there is enough to do. What a launch leaves does not depend on it.
	Workers int
	// Resident is how many blocks the device holds at once, 0 for 1024. A block that
	// waits for one that cannot begin waits for ever.
	Resident int64
	// Sample, when positive, is how many blocks to run, spread evenly over the
	// grid; counts are scaled to the whole grid. The memory that the launch
	// leaves is then not what the kernel would compute.
	Sample int64
	// Record, when set, is filled with the bytes the launch touched.
	Record *Record
}

// Stats is what a launch executed, summed over all warps.
type Stats struct {
	Blocks    int64
	Warps     int64
	WarpInsts int64 // warp instructions issued
	LaneInsts int64 // the same, counted per active lane
	// Issue is warp instructions weighted by the throughput class of each, in
	// cycles of one warp scheduler; a multiprocessor has four of them.
	Issue float64
	// BlockCycles is the latency of the slowest block alone on a multiprocessor, in
	// cycles: its critical path with dependent-issue and memory latencies.
	BlockCycles  float64
	SectorsRead  int64 // 32-byte sectors of global memory after coalescing within a warp
	SectorsWrite int64
	Atomics      int64 // lane operations of atom and red
	// Touched lists the allocations the launch read or wrote, by address. It is
	// overwritten when the kernel runs again.
	Touched []Touch
}

// Touch is one allocation that a launch accessed.
type Touch struct {
	Base          uint64 // the address Alloc gave
	Read, Written bool
}
