package reprise

import (
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// What a program records with. See package tracer.
type (
	Tracer  = tracer.Tracer  // Tracer records calls, or runs them
	Trace   = tracer.Trace   // Trace is a finished recording
	Buffer  = tracer.Buffer  // Buffer is a range of elements in memory
	Module  = tracer.Module  // Module is PTX
	Kernel  = tracer.Kernel  // Kernel is a function of a module
	Shape   = tracer.Shape   // Shape is how many blocks and threads a launch has
	Param   = tracer.Param   // Param is a scalar that replays may set
	Use     = tracer.Use     // Use is an access of a host call
	Element = tracer.Element // Element is a Go type that a buffer can hold
)

// What replays. See package graphexec.
type (
	Exec       = graphexec.Exec       // Exec replays a trace
	LoopExec   = graphexec.LoopExec   // LoopExec runs a loop
	Until      = graphexec.Until      // Until is what ends a loop
	LoopResult = graphexec.LoopResult // LoopResult says how a run of a loop went
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
	Temporary = ir.Temporary // written before it is read in every replay, dead afterwards
	Input     = ir.Input     // set by the program before a replay
	Output    = ir.Output    // read by the program after a replay
	InOut     = ir.InOut     // both: carried from replay to replay
	Constant  = ir.Constant  // never written
)

// Modes of a [Use].
const (
	Reads      = ir.Read
	Writes     = ir.Write
	ReadWrites = ir.ReadWrite
)

// Comparisons of an [Until].
const (
	Below    = graphexec.Below
	Above    = graphexec.Above
	Equal    = graphexec.Equal
	AtMost   = graphexec.AtMost
	AtLeast  = graphexec.AtLeast
	NotEqual = graphexec.NotEqual
)

// Linear is a launch in one dimension, of blocks blocks of threads threads each.
func Linear(blocks, threads uint32) Shape { return tracer.Linear(blocks, threads) }

// Square is a launch of blocks x blocks blocks of threads x threads threads.
func Square(blocks, threads uint32) Shape { return tracer.Square(blocks, threads) }

// Write sets the contents of a buffer now; it is not recorded. The lengths in bytes and the types of the elements must
// agree.
func Write[T Element](b Buffer, data []T) error { return tracer.Write(b, data) }

// Read fills data with the contents of a buffer, as of when all replays enqueued so far have ended.
func Read[T Element](data []T, b Buffer) error { return tracer.Read(data, b) }
