// Package segments is the view of an instantiated schedule as pieces that are submitted one by one, with other work in
// between. Package graphexec implements it; schedulers that share a device between programs use it.
package segments

import (
	"time"

	"github.com/reprise-gpu/reprise/device"
)

// Of returns the pieces of a *graphexec.Exec, whose package sets it: those of the segments of its schedule (see
// optimizer pass segment), or one piece without segments. An Exec has at most one Program at a time. The error is that of
// the device, or reports that the Exec is closed, is being used, or already has a Program.
var Of func(exec any) (Program, error)

// Unit is a piece of the finest granularity.
type Unit struct {
	Predicted time.Duration // on an idle device, without the launch
	Blocks    int           // of the largest launch in it
	Bound     string        // "compute" or "memory", what the time is predicted to depend on; "" if unknown
	Oversize  string        // why it takes longer than the limit of the schedule; "" if it does not
}

// Program is the pieces of an Exec, and a cursor. Like the Exec, it is for one goroutine at a time.
//
// A replay is all units in order. The first ones may be submitted now and others later. Meanwhile the Exec cannot be
// replayed as a whole and refuses changes. The caller submits all units of one replay on one stream, or orders the streams;
// the same holds for successive replays. Errors of the work are those of the stream. Parameters, bindings and other changes
// of the Exec apply to the units submitted after them.
type Program interface {
	// Units returns the units in order. The caller must not change the slice.
	Units() []Unit
	// Longest returns how far units from unit from on reach that are together predicted to take no longer than a time.
	// It returns from if the first one takes longer.
	Longest(from int, within time.Duration) (to int)
	// Predicted returns the sum of the predicted times of what Submit would launch.
	Predicted(from, to int) time.Duration
	// Submit enqueues the units [from, to) on a stream. from is 0, for a new replay, or where the last call has ended.
	// The units are launched as the longest pieces of all granularities that begin and end among them, each in one
	// call into the device, and one more for each prefetch of managed memory. Nothing is allocated.
	Submit(stream device.Stream, from, to int) error
	// Close waits for the device and frees the pieces. The Exec remains.
	Close() error
}
