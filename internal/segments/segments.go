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
	// Runner makes a Runner of the units. A Program has at most one at a time. The error is NotSupported if the device has no
	// conditional nodes, or if the program has work that their bodies cannot hold: host calls and prefetches.
	Runner() (Runner, error)
	// Close waits for the device and frees the pieces and the Runner. The Exec remains.
	Close() error
}

// Runner replays a Program on the device without the host: a while node selects one unit after another by a switch. After
// each unit a kernel stores the cursor and reads a flag in device memory. If the flag is set, the launch ends. The next
// launch continues behind the last unit that ran.
//
// Between a Launch and the end of its work, the Exec and the Program cannot be replayed in other ways or changed. The same
// holds while the cursor is in the middle of a replay. Other rules are those of Program.
type Runner interface {
	// Launch enqueues the next units, as many as stated: those behind the last one of a replay are of the next replay. It clears
	// the flag for this launch. It makes one call into the device, and one more if units differs from that of the last launch.
	Launch(stream device.Stream, units int) error
	// Stop sets the flag for all launches so far: those that run end with the present unit, and those that wait run none. It
	// returns at once. The flag is written by a copy on a stream of its own, with the greatest priority.
	Stop() error
	// Progress returns the replays that have ended, and the next unit, which is 0 between replays. Both are those at the end of
	// the last launch that has ended. The caller has waited for the stream. It makes no call into the device.
	Progress() (replays, unit int)
	// Reset abandons the present replay, so that the next launch begins with unit 0. No launch may be in progress.
	Reset() error
	// Close waits for the device and frees the Runner. The Program can be submitted and closed as before.
	Close() error
}
