package parts

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// Open returns the view of a *graphexec.Exec, whose package sets it: this package is below that one.
var Open func(exec any) Replays

// Replays is what a loop needs of an instantiated schedule and the public methods of graphexec.Exec do not offer. Views
// of one Exec are equal.
type Replays interface {
	Closed() bool
	// Stale returns an error that names a buffer whose memory was freed since it was bound.
	Stale() error
	// Moves reports whether an operation is a prefetch, which a graph cannot hold.
	Moves() bool
	// Address is where replays have a buffer; 0 for one that they do not use.
	Address(ir.BufferID) device.Ptr
	// Plan works out changes, a []graphexec.Change.
	Plan(changes any) (Plan, error)
	// Changes returns the numbers of operations that were updated and of graphs that were instantiated again.
	Changes() (updates, rebuilds int)
	// Rounds lowers several iterations of the schedule to one graph. The caller closes the result.
	Rounds(RoundsOptions) (Rounds, error)
}

// Plan is a number of changes of an Exec that were worked out and not made yet.
type Plan interface {
	Verdicts() any      // a []graphexec.Verdict
	IsOff(ir.OpID) bool // with the changes
	Apply() error       // makes them
	Revert()            // undoes Apply; errors are dropped, since they would repeat an earlier one
}

// RoundsOptions says what one graph holds.
type RoundsOptions struct {
	Size    int          // iterations
	Several *ir.Schedule // of Size iterations or of a divisor; nil for a repeated schedule of one
	Scalar  ir.Range     // ends the loop
	Stream  device.Stream
	// Build adds the nodes of a graph, and the iterations by Fill. It is called again for another instance.
	Build func(Rounds, device.Graph) error
}

// Rounds is several iterations of a loop in one graph, which may be the body of a while node.
type Rounds interface {
	Replays() Replays
	// Fill adds the iterations to a graph. After the operations that write the scalar in iteration i, from 1, it calls
	// written, which returns a node that the next writer must not overtake, or 0.
	Fill(in device.Graph, written func(i int, behind []device.Node) (device.Node, error)) error
	// Read adds a node that reads the scalar. work is called again when the scalar was moved.
	Read(after []device.Node, work func() device.Work) (device.Node, error)
	Launch(n int) error
	// Follow updates the nodes that read the scalar, after it was moved.
	Follow() error
	Close() error
}
