package des

import "github.com/reprise-gpu/reprise/device/model"

// TaskID identifies a task of a clock. Ids count from 0 in order of Add; 64 bits suffice for replaying a graph for
// hours.
type TaskID int64

// NoTask is the id of no task.
const NoTask TaskID = -1

// Task is one unit of work. The engine calls its owner when the task starts.
type Task struct {
	Arrival  model.Time // earliest start: when the host has enqueued the task
	Gap      model.Time // delay between the last dependency's end and the start: launch latency on the device
	Why      Limit      // limit to which the gap is attributed
	Priority int32      // lower runs first
	Deps     []TaskID   // tasks that must have ended; copied by Add
	Data     any        // passed to the start function; a pointer costs no allocation
}

// Span is the time in which a task ran. Begin is when its resource first served it. That may be later than its start
// if the task was queued.
type Span struct{ Begin, End model.Time }

// Record describes a task that has ended.
type Record struct {
	ID    TaskID
	Data  any
	Kind  model.DemandKind
	Start model.Time // when the start function was called
	Span  Span
	Spent Spent // from Start to End
	// After is the dependency that ended last; the task started after that end plus its gap. It is NoTask if the
	// arrival came later, or if there was no dependency.
	After TaskID
	Why   Limit // limit to which the gap is attributed
}
