package reprise

import (
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// Types for recording. Package tracer documents their methods: go doc github.com/reprise-gpu/reprise/tracer.Tracer.
type (
	Tracer = tracer.Tracer // Tracer records calls, or runs them
	Trace  = tracer.Trace  // Trace is a finished recording
	Buffer = tracer.Buffer // Buffer is a range of elements in device or host memory
	Kernel = tracer.Kernel // Kernel is a function of a module
	Op     = tracer.Op     // Op is a recorded call; Named gives it a label
	Shape  = tracer.Shape  // Shape holds the grid and the block of a launch, as ir.Dim3, and its dynamic shared memory
	Param  = tracer.Param  // Param is a scalar that replays may set
	Limits = tracer.Limits // Limits bounds a recorded loop
)

// Types for replaying. Packages graphexec and graphexec/loop document their methods:
// go doc github.com/reprise-gpu/reprise/graphexec.Exec, and graphexec/loop.Exec, loop.Until and loop.Result.
type (
	Exec     = graphexec.Exec // Exec replays a trace
	LoopExec = loop.Exec      // LoopExec runs a loop
	Until    = loop.Until     // Until is the condition that ends a loop
)

// Types of elements and scalars.
const (
	U8   = ir.U8
	I8   = ir.I8
	U16  = ir.U16
	I16  = ir.I16
	F16  = ir.F16
	BF16 = ir.BF16
	U32  = ir.U32
	I32  = ir.I32
	F32  = ir.F32
	U64  = ir.U64
	I64  = ir.I64
	F64  = ir.F64
)

// Roles of buffers: what their contents mean to the program around the replays.
const (
	Temporary = ir.Temporary // written before it is read in every replay, undefined afterwards
	Input     = ir.Input     // set by the program before the first replay or a later one
	Output    = ir.Output    // read by the program after a replay
	InOut     = ir.InOut     // both: carried from replay to replay
	Constant  = ir.Constant  // as Input, and no recorded operation writes it
)

// Endings of a loop, in the result of a run. A loop that reaches its maximum returns no error.
const (
	Met        = loop.Met        // the condition holds
	Exhausted  = loop.Exhausted  // after the maximum of iterations it does not
	NotANumber = loop.NotANumber // the scalar is NaN
)

// Comparisons of an [Until].
const (
	Below    = ir.Below
	Above    = ir.Above
	Equal    = ir.Equal
	AtMost   = ir.AtMost
	AtLeast  = ir.AtLeast
	NotEqual = ir.NotEqual
)

// Linear returns the shape of a launch in one dimension: a number of blocks of a number of threads each. A kernel with a
// thread for each of n elements takes (n+threads-1)/threads blocks; n/threads would leave out the last elements unless
// threads divides n.
func Linear(blocks, threads uint32) Shape { return tracer.Linear(blocks, threads) }

// Square returns the shape of a launch of blocks x blocks blocks, each of threads x threads threads.
func Square(blocks, threads uint32) Shape {
	return Shape{Grid: ir.Dim3{X: blocks, Y: blocks, Z: 1}, Block: ir.Dim3{X: threads, Y: threads, Z: 1}}
}

// Write sets the contents of a buffer at once, unrecorded, after all replays enqueued so far have ended. It returns an
// error if the element types or the lengths in bytes differ.
func Write[T tracer.Element](b Buffer, data []T) error { return tracer.Write(b, data) }

// Read copies the contents of a buffer to data, after all replays enqueued so far have ended; it needs no Wait before. It
// returns an error if the element types or the lengths in bytes differ.
func Read[T tracer.Element](data []T, b Buffer) error { return tracer.Read(data, b) }
