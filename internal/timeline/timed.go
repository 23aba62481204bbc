package timeline

import (
	"time"

	"github.com/reprise-gpu/reprise/device"
)

// timedDevice is a device whose command lists record an event before and after each piece of work:
//
//	Run  →  Record begin, Run, Record end
//
// Other commands are as they were. The indices of commands, which callers use, are those of the original list. It has none
// of the optional abilities of devices.
type timedDevice struct {
	device.Device
	lists  map[device.CommandList]*timedList
	stream device.Stream // of origin
	origin device.Event  // the start of the timeline
	events []device.Event
}

// timedList is a compiled list.
type timedList struct {
	at   []int // by original command: the index of its first command, and behind the last one the length
	runs []timedRun
	run  []int // by original command: the index of its work
}

// timedRun is a piece of work and its events.
type timedRun struct {
	work       device.Work
	begin, end device.Event
}

// Unwrap returns the device itself.
func (d *timedDevice) Unwrap() device.Device { return d.Device }

func (d *timedDevice) newEvent() (device.Event, error) {
	e, err := d.CreateEvent()
	if err == nil {
		d.events = append(d.events, e)
	}
	return e, err
}

// CompileCommands adds the events.
func (d *timedDevice) CompileCommands(list []device.Command) (device.CommandList, error) {
	l := &timedList{}
	var out []device.Command
	for _, c := range list {
		l.at = append(l.at, len(out))
		if c.Kind != device.Run || labelOf(c.Work) == "" {
			l.run = append(l.run, len(out))
			out = append(out, c)
			continue
		}
		r := timedRun{work: c.Work}
		var err error
		if r.begin, err = d.newEvent(); err != nil {
			return 0, err
		}
		if r.end, err = d.newEvent(); err != nil {
			return 0, err
		}
		l.runs = append(l.runs, r)
		l.run = append(l.run, len(out)+1)
		out = append(out,
			device.Command{Kind: device.Record, Stream: c.Stream, Event: r.begin}, c,
			device.Command{Kind: device.Record, Stream: c.Stream, Event: r.end})
	}
	l.at = append(l.at, len(out))
	h, err := d.Device.CompileCommands(out)
	if err == nil {
		d.lists[h] = l
	}
	return h, err
}

// UpdateCommand replaces the work of an original command.
func (d *timedDevice) UpdateCommand(h device.CommandList, i int, w device.Work) error {
	if l := d.lists[h]; l != nil && i >= 0 && i < len(l.run) {
		i = l.run[i]
	}
	return d.Device.UpdateCommand(h, i, w)
}

// SubmitCommands submits the commands of n original ones.
func (d *timedDevice) SubmitCommands(h device.CommandList, from, n int) error {
	if l := d.lists[h]; l != nil {
		begin := l.index(from)
		from, n = begin, l.index(from+n)-begin
	}
	return d.Device.SubmitCommands(h, from, n)
}

// index returns the index of an original command in the list, which is repeated cyclically.
func (l *timedList) index(i int) int {
	n := len(l.at) - 1
	if n == 0 {
		return 0
	}
	return i/n*l.at[n] + l.at[i%n]
}

// DestroyCommandList forgets the list.
func (d *timedDevice) DestroyCommandList(h device.CommandList) error {
	delete(d.lists, h)
	return d.Device.DestroyCommandList(h)
}

// start records the origin of time on an idle device.
func (d *timedDevice) start() (err error) {
	if d.stream, err = d.CreateStream(0); err != nil {
		return err
	}
	if d.origin, err = d.newEvent(); err != nil {
		return err
	}
	return d.Record(d.origin, d.stream)
}

// free destroys the events. The work has ended.
func (d *timedDevice) free() error {
	var errs []error
	for _, e := range d.events {
		errs = append(errs, d.DestroyEvent(e))
	}
	if d.stream != 0 {
		errs = append(errs, d.DestroyStream(d.stream))
	}
	return device.Join(errs...)
}

// labelOf returns the label of work, "" for work without one.
func labelOf(w device.Work) string {
	switch w := w.(type) {
	case *device.Launch:
		return w.Label
	case *device.Copy:
		return w.Label
	case *device.Memset:
		return w.Label
	case *device.Prefetch:
		return w.Label
	case *device.HostCall:
		return w.Label
	}
	return ""
}

func ps(d time.Duration) int64 { return d.Nanoseconds() * 1000 }
