package sim

import (
	"sync/atomic"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/beside"
	"github.com/reprise-gpu/reprise/internal/des"
)

// sharedTime is the state that the devices of a system share: the virtual time of the host and of all work, and what
// stops it.
type sharedTime struct {
	clock      *des.Clock
	host       model.Time  // the host's clock; never behind that of the work
	held       []heldTask  // tasks that wait for values in memory
	inside     *job        // the host call that runs on a caller's goroutine now; it must not call a device
	calls      []*hostRun  // host calls that run on goroutines of their own
	standing   *hostRun    // the host call for which the clock stands, or nil
	running    *beside.Run // the device, running for a wait that has given up, or nil
	pause      atomic.Bool // start no more tasks
	noticeable int         // number of pieces of work in progress that the program may notice; see Noticeable
	noticed    uint64      // number of pieces of such work started so far
	order      order       // of the work of devices that detect races
}

func newSharedTime() *sharedTime {
	t := &sharedTime{clock: des.NewClock()}
	t.clock.StopWhen(func() bool { return t.standing != nil || t.pause.Load() })
	return t
}
