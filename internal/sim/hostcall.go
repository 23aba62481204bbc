package sim

import (
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/contract"
	"github.com/reprise-gpu/reprise/internal/des"
)

// Callback is a device.Work: a host call that runs even after an error, which it gets as an argument.
type Callback struct {
	device.Work
	Func func(error)
}

// The clock stands while a host call runs, so that virtual times do not depend on the duration of functions that take
// less than waitPatience. A function may also wait for another caller, whose calls must then proceed: a query waits
// at most queryPatience, and after waitPatience the clock continues without the function.
const (
	queryPatience = 100 * time.Millisecond
	waitPatience  = time.Second
)

// hostRun is a host call in progress on its own goroutine. It does not run on a caller's goroutine, because a caller
// may hold a lock that the function takes.
type hostRun struct {
	on       *Device
	id       des.TaskID
	begun    time.Time
	returned chan struct{} // closed when the function has returned
	failed   *device.Error // result of the function
}

// startHostCall calls a function of the program: on this goroutine, or on a new one if callers take turns. Work that
// it enqueues comes after the present time.
func (d *Device) startHostCall(id des.TaskID, j *job) model.Demand {
	call := func() *device.Error { return contract.RunHostCall(j.work) }
	if j.told != nil {
		before := d.poison().In("Callback")
		call = func() *device.Error { j.told(before); return nil }
	}
	if d.outside == nil {
		d.inside = j
		d.failed = first(d.failed, call())
		d.inside = nil
		return model.Demand{Kind: model.Host}
	}
	d.host = max(d.host, d.engine.Now())
	r := &hostRun{on: d, id: id, begun: time.Now(), returned: make(chan struct{})}
	d.calls, d.standing = append(d.calls, r), r
	go r.run(call)
	return model.Demand{Kind: des.Held}
}

func (r *hostRun) run(call func() *device.Error) {
	defer close(r.returned) // also if the function ends its goroutine
	r.failed = call()
}

// collect ends the tasks of host calls that have returned, and lets the clock continue without one that takes too
// long.
func (t *sharedTime) collect() {
	if len(t.calls) == 0 {
		return
	}
	t.calls = slices.DeleteFunc(t.calls, (*hostRun).end)
	if r := t.standing; r != nil && (!slices.Contains(t.calls, r) || time.Since(r.begun) >= waitPatience) {
		t.standing = nil
	}
}

// end ends the task of the call if the function has returned, and reports whether it has.
func (r *hostRun) end() bool {
	select {
	case <-r.returned:
	default:
		return false
	}
	r.on.failed = first(r.on.failed, r.failed)
	r.on.engine.Return(r.id)
	return true
}

// awaitReturn lets other callers in until the host call that stops the clock has returned, for a limited time.
func (t *sharedTime) awaitReturn(most time.Duration) {
	r := t.standing
	most = min(most, waitPatience-time.Since(r.begun))
	r.on.outside(func() {
		select {
		case <-r.returned:
		case <-time.After(most):
		}
	})
}
