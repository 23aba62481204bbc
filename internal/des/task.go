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
	Bytes    float64 // DRAM traffic of a kernel or a CopyOn (a copy reads and writes); bytes moved by CopyIn and CopyOut

	// Of a kernel. Blocks run in slots, PerSM of them on each multiprocessor.
	Blocks      float64
	PerSM       float64 // resident blocks per multiprocessor, from the occupancy rules
	Issue       float64 // warp instructions issued over all blocks, weighted by issue cost, in cycles
	BlockCycles float64 // latency of one block when nothing else runs, in cycles
}

// TaskID names a task of one Engine, from 0 in order of Add. It is wide
// enough for a simulation that replays a graph for hours.
type TaskID int64

// Task is one unit of work. The engine calls its owner when the task starts.
type Task struct {
	Arrival  Time     // not before this: when the host had enqueued it
	Gap      Time     // delay between the last dependency's end and the start: launch latency on the device
	Priority int32    // lower runs first
	Deps     []TaskID // tasks that must have ended; copied by Add
	Data     any      // handed to the owner; a pointer costs no allocation
}

// Span is when a task ran. Begin is when its resource first served it, which
// may be later than its start when it had to queue.
type Span struct{ Begin, End Time }
