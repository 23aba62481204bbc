package des

import "github.com/reprise-gpu/reprise/internal/unit"

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
	Marker    DemandKind = iota // nothing: an event record, an empty node
	Kernel                      // multiprocessors and memory
	CopyIn                      // host to device copy engine
	CopyOut                     // device to host copy engine
	CopyOn                      // device to device, memory bandwidth; a memset too
	Host                        // the host callback thread
	Fixed                       // Duration, shares nothing: an op with a declared cost
	Condition                   // nothing, for as long as a conditional node takes to decide
	Held                        // nothing, until Release
)

// Demand is what a task asks of the device.
type Demand struct {
	Kind     DemandKind
	Duration Time    // of Host and Fixed
	Bytes    float64 // DRAM traffic of a kernel or a CopyOn (a copy reads and writes); bytes moved by CopyIn and CopyOut

	// Of a kernel. Blocks run in slots, PerSM of them on each multiprocessor.
	Blocks  float64
	PerSM   float64   // resident blocks per multiprocessor, from the occupancy rules
	Work    unit.Work // warp instructions by unit, over all blocks
	L2Bytes float64   // between multiprocessors and L2; what DRAM supplies passes there too, so at least Bytes
	LinkIn  float64   // bytes of the host's memory, or another GPU's, that a kernel reads, and
	LinkOut float64   // those that it writes
	Faulted float64   // bytes of managed memory that move to the device as it touches them, and
	Bulk    float64   // those that move before it starts
	Updates float64   // atomic operations done in L2
	Lines   float64   // over how many lines of 128 bytes they are spread, 0 when over all of L2
	// BlockCycles is the latency of one block when nothing else runs, in cycles, in
	// the mean over the blocks, and SlowestCycles that of the slowest one, 0 when
	// all are alike.
	BlockCycles, SlowestCycles float64
}

// TaskID names a task of one Engine, from 0 in order of Add. It is wide
// enough for a simulation that replays a graph for hours.
type TaskID int64

// NoTask is no task.
const NoTask TaskID = -1

// Task is one unit of work. The engine calls its owner when the task starts.
type Task struct {
	Arrival  Time     // not before this: when the host had enqueued it
	Gap      Time     // delay between the last dependency's end and the start: launch latency on the device
	Why      Limit    // what the gap is for
	Priority int32    // lower runs first
	Deps     []TaskID // tasks that must have ended; copied by Add
	Data     any      // handed to the owner; a pointer costs no allocation
}

// Span is when a task ran. Begin is when its resource first served it, which
// may be later than its start when it had to queue.
type Span struct{ Begin, End Time }

// Record tells of a task that has ended.
type Record struct {
	ID    TaskID
	Data  any
	Kind  DemandKind
	Start Time // when the owner was called
	Span  Span
	Spent Spent // Start to End
	// After is the dependency that ended last, and the task started its gap after
	// that; NoTask when the task arrived later still, or had none.
	After TaskID
	Why   Limit // what the gap was for
}
