package sim

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/des"
)

// LegacyStream is CUDA's legacy default stream. Its work starts when all work
// enqueued before it in blocking streams has ended, and work enqueued in those
// after it starts when it has ended. The streams of CreateStream know nothing of it.
func (d *Device) LegacyStream() device.Stream {
	if d.legacy == nil {
		d.legacy = d.newStream(leastPriority)
	}
	return d.legacy.handle
}

// CreateBlockingStream makes a FIFO that is ordered with the legacy stream.
func (d *Device) CreateBlockingStream(priority int) (device.Stream, error) {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return 0, err.In("CreateBlockingStream")
	}
	s := d.newStream(priority)
	s.blocking = true
	return s.handle, nil
}

// joinLegacy makes the next task of a stream follow what the legacy stream's rule
// puts before it.
func (d *Device) joinLegacy(s *stream) {
	switch {
	case s == d.legacy:
		for _, b := range d.busy {
			s.waits = append(s.waits, b.waits...)
			if b.used {
				d.followDefault(s, b.tail)
			}
			b.busy = false
		}
		d.busy = d.busy[:0]
		d.epoch++
	case s.blocking:
		if !s.busy {
			s.busy = true
			d.busy = append(d.busy, s)
		}
		if s.epoch != d.epoch {
			s.epoch = d.epoch
			d.followDefault(s, d.legacy.tail)
		}
	}
}

// followDefault is follow, which takes no time when the task has ended so long ago
// that its end is known on the device by the time new work arrives.
func (d *Device) followDefault(s *stream, t des.TaskID) {
	if d.engine.Ended(t) && d.engine.Wait(t)+d.profile.EventGap <= d.arrival() {
		s.waits = append(s.waits, t)
		return
	}
	d.follow(s, t)
}

// front is room for the tasks of a stream's end. It belongs to the call that asks: while
// it waits, others may be let in.
type front [8]des.TaskID

// appendFront appends the tasks that must have ended for a stream to be empty.
func (d *Device) appendFront(to []des.TaskID, s *stream) []des.TaskID {
	if s == d.legacy {
		for _, b := range d.busy {
			to = b.appendFront(to)
		}
	}
	return s.appendFront(to)
}

func (s *stream) appendFront(to []des.TaskID) []des.TaskID {
	if s.used {
		to = append(to, s.tail)
	}
	return append(to, s.waits...)
}
