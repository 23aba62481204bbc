package timeline

import (
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
)

// Timeline is one replay of a schedule. All times are in ps since its submission.
type Timeline struct {
	Program  string
	Device   string // id
	Source   Source
	Strategy string
	Backend  string
	Schedule *ir.Schedule
	Total    int64  // until the end of the host's wait
	Spans    []Span // in order of enqueuing

	// The following are known on a simulated device only.
	Steps       []Step // the critical path; contiguous, and as long as Total
	Usage       []sim.Usage
	Uncertainty float64 // of Total, relative
}

// Source is where times come from.
type Source string

const (
	Simulated Source = "simulator" // virtual time
	Events    Source = "events"    // events on a GPU, or on a simulated driver
)

// Span is the time of one operation. An operation in a loop has one for each iteration.
type Span struct {
	Schedule  *ir.Schedule // with the operation: that of the timeline, or of a body in it
	Op        ir.OpID      // in that schedule
	Name      string       // without the path of a body: see package opname
	Path      string       // of a body, as in "%1/"; "" outside of bodies
	Body      string       // the same with names, as in "solve/"
	Iteration int          // of a loop, from 1; 0 outside of loops
	Engine    Engine
	Ready     int64 // the earliest possible start
	Begin     int64 // when a resource first served it
	End       int64
	Work      *sim.Work // counts and limits; nil from Events
	OnPath    int64     // part of the time on the critical path
	Gap       int64     // time before it on the critical path, between operations
}

// Engine is the part of a device that runs an operation.
type Engine uint8

const (
	Multiprocessors Engine = iota
	CopyIn                 // the copy engine from the host
	CopyOut                // the copy engine to the host
	Memory                 // copies and fills within the device
	Host                   // a host call
	Decision               // a loop or a branch reads its condition
)

// Step is a part of the critical path that has one cause. Within an operation, the order of the steps has no meaning.
type Step struct {
	Span   int  // index in Spans; -1 for the host and for work that belongs to no operation
	Before bool // the gap before the span
	Begin  int64
	Took   int64
	Limit  string
	Cause  string
}

// Lane returns the lane of a span.
func (s *Span) Lane() ir.LaneID { return s.Schedule.Lane[s.Op] }

// Of returns the operation of a span.
func (s *Span) Of() *ir.Op { return &s.Schedule.Graph.Ops[s.Op] }
