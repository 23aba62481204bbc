package sim

import (
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/des"
)

// endOf runs the device until a task has ended, and returns when that was.
func (d *Device) endOf(id des.TaskID) des.Time {
	for {
		d.awaitHostCall()
		if t, ok := d.engine.TryWait(id); ok {
			return t
		}
		d.stalled()
	}
}

// drained runs the device until all tasks have ended, and returns when that was.
func (d *Device) drained() des.Time {
	for {
		d.awaitHostCall()
		if t, ok := d.engine.TryDrain(); ok {
			return t
		}
		d.stalled()
	}
}

// queryPatience is how long a call that does not wait for work waits for a host call of another
// caller to return. The host call may itself wait for the call to be answered.
const queryPatience = 100 * time.Millisecond

// catchUp runs the system as far as the host has come, unless a host call keeps it.
func (d *Device) catchUp() {
	if d.inside != nil && d.outside != nil {
		returned := d.returned
		d.outside(func() {
			select {
			case <-returned:
			case <-time.After(queryPatience):
			}
		})
	}
	if d.inside == nil {
		d.pollHeld()
		d.clock.Run(d.host)
	}
}

// Callback is a device.Work: a host call that is told what went wrong before it, if
// anything did, and is made even then.
type Callback struct {
	device.Work
	Func func(error)
}

// runHostCall calls a function of the program, outside if others may come in. What
// they enqueue then comes after the present.
func (d *Device) runHostCall(j *job) {
	var failed *device.Error
	call := func() { failed = j.work.Run() }
	if j.told != nil {
		call = func() { j.told(d.poison().In("Callback")) }
	}
	d.inside = j
	defer func() { d.inside = nil }() // also where the function ends its goroutine
	if d.outside == nil {
		call()
	} else {
		d.host = max(d.host, d.engine.Now())
		returned := make(chan struct{})
		d.returned = returned
		d.outside(call)
		close(returned)
	}
	d.failed = first(d.failed, failed)
}

// awaitHostCall waits until the engine is not in the middle of one, started by another
// caller.
func (d *Device) awaitHostCall() {
	for d.inside != nil {
		returned := d.returned
		d.outside(func() { <-returned })
	}
}

// pollEvery is how often the host looks for values that the program may have written
// by itself.
const pollEvery = 50 * time.Microsecond

// stalled is when all that is left waits for values in memory, directly or not. They
// may come from work that another caller enqueues, or by the program's own stores.
// If nobody does, this lasts for ever, as it does on a GPU.
func (d *Device) stalled() {
	if d.outside == nil {
		d.giveUp()
		return
	}
	d.host = max(d.host, d.engine.Now())
	d.outside(func() { time.Sleep(pollEvery) })
	d.awaitHostCall()
	d.pollHeld()
}
