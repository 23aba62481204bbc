package des

// Time is virtual time in picoseconds.
type Time int64

const (
	Nanosecond  Time = 1000
	Microsecond      = 1000 * Nanosecond
	Second           = 1000 * 1000 * Microsecond
)

// DemandKind says which resource a task needs.
type DemandKind uint8

const (
	Marker  DemandKind = iota // nothing: an event record, an empty node
	Kernel                    // multiprocessors, issue slots, memory bandwidth
	CopyIn                    // host to device copy engine
	CopyOut                   // device to host copy engine
	CopyOn                    // device to device, memory bandwidth; a memset too
	Host                      // the host callback thread
	Fixed                     // Duration, shares nothing: an op with a declared cost
)

// Demand is what a task asks of the device.
type Demand struct {
	Kind     DemandKind
	Duration Time    // of Host and Fixed
	Bytes    float64 // DRAM traffic of a kernel; bytes moved of a copy

	// Of a kernel. Blocks run in slots, PerSM of them on each multiprocessor.
	Blocks      float64
	PerSM       float64 // resident blocks per multiprocessor, from the occupancy rules
	Issue       float64 // warp instructions issued over all blocks, weighted by issue cost, in cycles
	BlockCycles float64 // latency of one block when nothing else runs, in cycles
}

// TaskID names a task of one Engine, from 0 in order of Add.
type TaskID int32

// Task is one unit of work.
type Task struct {
	Arrival  Time // not before this: when the host had enqueued it
	Gap      Time // delay between the last dependency's end and the start: launch latency on the device
	Priority int32
	Deps     []TaskID // tasks that must have ended; copied by Add
	// Start is called once, when the task starts, in order of start time, and
	// returns its demand: this is where a simulated kernel executes.
	// Data is handed to it.
	Data any
}
