package sim

import (
	"sync/atomic"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/beside"
	"github.com/reprise-gpu/reprise/internal/des"
)

// sharedTime is what the devices of a system have in common: the virtual time of the host
// and of all work, and what stops it.
type sharedTime struct {
	clock      *des.Clock
	host       model.Time  // the host's clock; never behind that of the work
	held       []heldTask  // what waits for values in memory
	inside     *job        // the host call that a caller runs now: it must not call a device
	calls      []*hostRun  // those that run on goroutines of their own
	standing   *hostRun    // the one of calls for which the clock stands, nil for none
	running    *beside.Run // the device at work for a wait that was given up; nil for none
	pause      atomic.Bool // it begins no other task
	noticeable int         // pieces of work under way that the program may notice: see Noticeable
	noticed    uint64      // pieces of such work that have begun
	order      order       // of the work of devices that look for races
}

func newSharedTime() *sharedTime {
	t := &sharedTime{clock: des.NewClock()}
	t.clock.StopWhen(func() bool { return t.standing != nil || t.pause.Load() })
	return t
}
