package sim

import (
	"time"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
)

// endOf runs the device until a task has ended, and returns when that was.
func (d *Device) endOf(id des.TaskID) model.Time {
	for {
		if t, ok := d.engine.TryWait(id); ok {
			return t
		}
		d.stalled()
	}
}

// drained runs the device until all tasks that there are have ended, and returns when that was. It does not wait for what
// other callers enqueue meanwhile.
func (d *Device) drained() model.Time {
	m := d.engine.Mark()
	for {
		if t, ok := d.engine.TryReach(m); ok {
			return t
		}
		d.stalled()
	}
}

// catchUp runs the system as far as the host has come, or as far as a host call lets it that does not return for a
// while: the function may itself wait for the caller.
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

// pass runs the system as far as the host has come and no host call keeps it.
func (t *sharedTime) pass() {
	t.poll()
	t.clock.Run(t.host)
}

// pollEvery is how often the host looks for values that the program may have written
// by itself.
const pollEvery = 50 * time.Microsecond

// stalled is when nothing can begin: the clock stands for a host call, or all that is left waits, directly or not, for
// values in memory and for host calls that have not returned. The values may come from work that another caller
// enqueues, or by the program's own stores. If they do not come, this lasts for ever, as it does on a GPU.
//
// Other callers may do anything to the device meanwhile, but for Close, which waits for this call: nothing that was looked
// up before, in the device or in memory, need be there afterwards.
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

// poll takes note of what the program may have done meanwhile: host calls that have returned, and stores that streams
// wait for.
func (t *sharedTime) poll() {
	t.collect()
	if len(t.held) > 0 {
		t.clock.Run(t.host)
		t.releaseHeld()
	}
}
