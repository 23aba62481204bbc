package sim

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/des"
)

// LegacyStream returns CUDA's legacy default stream. Its work starts after all work enqueued before it in blocking
// streams has ended. Work enqueued later in blocking streams starts after its work has ended. Streams of CreateStream
// are not ordered with it.
func (d *Device) LegacyStream() device.Stream {
	if d.legacy == nil {
		d.legacy = d.newStream(leastPriority)
	}
	return d.legacy.handle
}

// CreateBlockingStream creates a FIFO that is ordered with the legacy stream.
func (d *Device) CreateBlockingStream(priority int) (device.Stream, error) {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return 0, err.In("CreateBlockingStream")
	}
	s := d.newStream(priority)
	s.blocking = true
	return s.handle, nil
}

// joinLegacy adds the dependencies that the legacy stream's rule requires to the next task of a stream.
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

// followDefault is follow, but costs no time if the device knows the end of the task before new work arrives.
func (d *Device) followDefault(s *stream, t des.TaskID) {
	if d.engine.Ended(t) && d.engine.Wait(t)+d.profile.EventGap <= d.arrival() {
		s.waits = append(s.waits, t)
		return
	}
	d.follow(s, t)
}

// front is a buffer for the tasks at the end of a stream. Each call has its own, because other callers may be let in
// while it waits.
type front [8]des.TaskID

// appendFront appends the tasks that must end before a stream is empty.
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
