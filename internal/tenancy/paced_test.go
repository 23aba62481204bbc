package tenancy

import (
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/null"
)

// paced is a device in virtual time that runs nothing. A graph takes the time of a round of the last number of members, after
// the graphs before it. The host wakes up a while after an event. Nothing else takes time.
type paced struct {
	*null.Device
	now, busy time.Duration
	members   int
	wake      time.Duration // from an event until the host continues
	round     func(members int) time.Duration
	ends      map[device.Event]time.Duration
}

func newPaced(round func(members int) time.Duration) *paced {
	return &paced{Device: null.New(), round: round, ends: map[device.Event]time.Duration{}}
}

func (d *paced) Info() device.Info {
	info := d.Device.Info()
	info.Simulated, info.Multiprocessors = true, 20
	return info
}

func (d *paced) Now() time.Duration { return d.now }

func (d *paced) LaunchGraph(device.GraphExec, device.Stream) error {
	d.busy = max(d.busy, d.now) + d.round(d.members)
	return nil
}

func (d *paced) Record(e device.Event, _ device.Stream) error {
	d.ends[e] = max(d.busy, d.now)
	return nil
}

func (d *paced) WaitFirst(until time.Duration, events ...device.Event) error {
	for _, e := range events {
		until = min(until, d.ends[e]+d.wake)
	}
	d.now = max(d.now, until)
	return nil
}

func (d *paced) Completed(e device.Event) (time.Duration, bool) { return d.ends[e], d.ends[e] <= d.now }

func (d *paced) Err() error { return nil }
