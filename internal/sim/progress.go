package sim

import (
	"time"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
)

// endOf runs the device until a task has ended, and returns the time of its end.
func (d *Device) endOf(id des.TaskID) model.Time {
	for {
		if t, ok := d.engine.TryWait(id); ok {
			return t
		}
		d.stalled()
	}
}

// drained runs the device until all present tasks have ended, and returns the time of the last end. It does not wait
// for work that other callers enqueue meanwhile.
func (d *Device) drained() model.Time {
	m := d.engine.Mark()
	for {
		if t, ok := d.engine.TryReach(m); ok {
			return t
		}
		d.stalled()
	}
}

// catchUp runs the system up to the host's time. A host call that does not return stops it after queryPatience,
// because the function may itself wait for the caller.
func (d *Device) catchUp() {
	d.pass()
	for left := queryPatience; d.standing != nil && left > 0; d.pass() {
		begun := time.Now()
		d.waiting++
		d.awaitReturn(left)
		d.waiting--
		left -= time.Since(begun)
	}
}

// pass runs the system up to the host's time or to a host call that stops the clock.
func (t *sharedTime) pass() {
	t.poll()
	t.clock.Run(t.host)
}

// pollEvery is the interval at which the host checks memory for values that the program may have stored itself.
const pollEvery = 50 * time.Microsecond

// stalled waits when no work can start: the clock stands for a host call, or all remaining work waits, directly or
// not, for values in memory and for host calls that have not returned. The values may come from work that another
// caller enqueues, or from stores of the program. If they never come, the wait lasts for ever, as on a GPU.
//
// Meanwhile other callers may change the device in any way except Close, which waits for this call. Nothing that was
// looked up before in the device or in memory is valid afterwards.
func (d *Device) stalled() {
	d.waiting++
	switch {
	case d.outside == nil:
		d.giveUp()
	case d.standing != nil:
		d.awaitReturn(waitPatience)
		d.poll()
	default:
		d.host = max(d.host, d.engine.Now())
		d.outside(func() { time.Sleep(pollEvery) })
		d.poll()
	}
	d.waiting--
}

// poll handles events outside of the device: host calls that have returned, and stores that streams wait for.
func (t *sharedTime) poll() {
	t.collect()
	if len(t.held) > 0 {
		t.clock.Run(t.host)
		t.releaseHeld()
	}
}
