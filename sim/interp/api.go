package interp

// Launch is one run of a kernel over a grid.
type Launch struct {
	Grid, Block [3]uint32
	Shared      uint32 // dynamic shared memory, bytes
	Params      []byte // parameter block
	Label       string // what faults call the launch
	// StepLimit is how many warp instructions one block may issue before the
	// launch ends in a Timeout fault; 0 means 1<<31, about a minute of host time.
	StepLimit int64
	// Workers is how many goroutines may run blocks side by side; 0 is one, which
	// runs them in grid order, and only then is the result of every kernel fixed.
	// With more, blocks that load or store bytes that another block stores have no
	// fixed result, unless they do so by atomic or volatile accesses: a kernel with
	// such accesses to global memory always has its blocks in order.
	Workers int
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
	// Touched lists the allocations the launch read or wrote, by address.
	Touched []Touch
}

// Touch is one allocation that a launch accessed.
type Touch struct {
	Base          uint64 // the address Alloc gave
	Read, Written bool
}
