package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
)

// WaitUntil advances the host's clock to t, for a host that was busy elsewhere, for example with another device. It
// has no effect if t has passed.
func (d *Device) WaitUntil(t time.Duration) { d.waitUntil(t) }

// WaitUntil is that of any device of the system.
func (s *System) WaitUntil(t time.Duration) { s.time.waitUntil(t) }

func (s *sharedTime) waitUntil(t time.Duration) {
	s.settled()
	s.host = max(s.host, model.Time(min(t, lastNanosecond))*model.Nanosecond)
}

// WaitFirst advances the host's clock until one of the events has completed, at most to time until. Events that were
// never recorded count as completed. The errors of the work stay for calls that synchronize.
func (d *Device) WaitFirst(until time.Duration, events ...device.Event) error {
	if err := d.enter(0); err != nil {
		return err.In("WaitFirst")
	}
	limit := model.Time(min(until, lastNanosecond)) * model.Nanosecond
	var tasks []des.TaskID
	for _, h := range events {
		e, err := d.events.Get(h)
		if err != nil {
			return err.In("WaitFirst")
		}
		if !e.recorded {
			return nil
		}
		tasks = append(tasks, e.task)
	}
	d.catchUp()
	at := d.engine.RunUntilAny(tasks, max(limit, d.host))
	if slices.ContainsFunc(tasks, d.engine.Ended) {
		d.waited(at)
		return nil
	}
	d.host = max(d.host, limit)
	d.retire()
	return nil
}

// lastNanosecond is des.LastTime in nanoseconds.
const lastNanosecond = time.Duration(des.LastTime / model.Nanosecond)

// timeIsOver returns the fault for work that would end after the end of virtual time.
func timeIsOver(work any) *device.Error {
	name := "the device's work"
	if j, ok := work.(*job); ok {
		name = j.name()
	}
	return &device.Error{Code: device.LaunchTimeout,
		Detail: fmt.Sprintf("%s would end after %v of virtual time, the most that can be simulated: use smaller grids and copies, or a profile with higher rates", name, lastNanosecond.Truncate(time.Hour))}
}

// Completed returns the virtual time at which the last record of an event completed, if it has. It is for harnesses and
// costs no time.
func (d *Device) Completed(h device.Event) (at time.Duration, ok bool) {
	e, bad := d.events.Get(h)
	if bad != nil || !e.recorded {
		return 0, false
	}
	d.catchUp()
	return duration(e.at), e.done
}
