//go:build cuda

package cuda

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
)

// list is a compiled command list: what the driver is asked for, in C memory, and
// beside it what only Go knows.
type list struct {
	commands []command
	sources  []source
	calls    int // commands that are host calls
}

// source is what a command was compiled from.
type source struct {
	kind   string // of the work, "" for record and await
	call   *hostCall
	stream device.Stream
	event  device.Event
}

// CompileCommands lowers a schedule to a list that SubmitCommands walks in C.
func (d *Device) CompileCommands(cs []device.Command) (device.CommandList, error) {
	if err := d.enter(); err != nil {
		return 0, err.In("CompileCommands")
	}
	defer d.mu.Unlock()
	l := &list{commands: newCommands(len(cs)), sources: make([]source, len(cs))}
	for i, c := range cs {
		if err := d.compile(l, i, c); err != nil {
			l.free()
			err.Detail = fmt.Sprintf("command %d: %s", i, err.Detail)
			return 0, err.In("CompileCommands")
		}
	}
	return d.lists.Add(l), nil
}

func (d *Device) compile(l *list, i int, c device.Command) (err *device.Error) {
	out, from := &l.commands[i], &l.sources[i]
	from.stream, from.event = c.Stream, c.Event
	s, err := d.streams.Get(c.Stream)
	if err != nil {
		return err
	}
	switch c.Kind {
	case device.Run:
		from.event, from.kind = 0, device.KindOf(c.Work)
		from.call, err = d.lower(out, c.Work)
		if from.call != nil {
			l.calls++
		}
		out.on(s)
	case device.Record, device.Await:
		e, err := d.events.Get(c.Event)
		if err != nil {
			return err
		}
		if c.Kind == device.Record {
			out.mark(e.ev, s)
		} else {
			out.await(e.ev, s)
		}
	default:
		return refuse(device.InvalidValue, "kind %d is none of Run, Record and Await", c.Kind)
	}
	return err
}

// free gives up everything but runs that are under way.
func (l *list) free() {
	freeCommands(l.commands)
	for i := range l.sources {
		l.sources[i].call.release()
	}
}

// UpdateCommand changes the command where it is: the driver has copied what it needs
// of earlier submissions.
func (d *Device) UpdateCommand(h device.CommandList, i int, w device.Work) error {
	if err := d.enter(); err != nil {
		return err.In("UpdateCommand")
	}
	defer d.mu.Unlock()
	l, err := d.lists.Get(h)
	if err != nil {
		return err.In("UpdateCommand")
	}
	if i < 0 || i >= len(l.commands) || l.sources[i].kind == "" {
		return refuse(device.InvalidValue, "command %d is not one of the list's %d commands that run work", i, len(l.commands)).In("UpdateCommand")
	}
	return d.patch(l, i, w).In("UpdateCommand")
}

func (d *Device) patch(l *list, i int, w device.Work) *device.Error {
	from := &l.sources[i]
	if err := first(device.CheckWork(w, &d.info), sameKind(from.kind, w)); err != nil {
		return err
	}
	call, err := d.lower(&l.commands[i], w)
	if err != nil {
		return err
	}
	from.call.release()
	from.call = call
	return nil
}

func sameKind(was string, w device.Work) *device.Error {
	if is := device.KindOf(w); is != was {
		return refuse(device.GraphUpdateForbidden, "a %s cannot become a %s; instantiate anew", was, is)
	}
	return nil
}

// SubmitCommands crosses into C once, whatever the length of the list.
func (d *Device) SubmitCommands(h device.CommandList) error {
	if err := d.enter(); err != nil {
		return err.In("SubmitCommands")
	}
	defer d.mu.Unlock()
	l, err := d.lists.Get(h)
	if err != nil {
		return err.In("SubmitCommands")
	}
	if err := d.check(l); err != nil {
		return err.In("SubmitCommands")
	}
	l.enqueued(0, 1)
	at, code := d.driver.submit(l.commands)
	if code == 0 {
		return nil
	}
	l.enqueued(at, -1)
	err = d.failed(l.commands[at].calls(), code)
	err.Detail = fmt.Sprintf("command %d: %s", at, err.Detail)
	return err.In("SubmitCommands")
}

// check notices streams and events that were destroyed since the list was compiled,
// and marks the events that it records.
func (d *Device) check(l *list) *device.Error {
	for i := range l.sources {
		from := &l.sources[i]
		if _, err := d.streams.Get(from.stream); err != nil {
			return refuse(err.Code, "command %d: %s", i, err.Detail)
		}
		if from.event == 0 {
			continue
		}
		e, err := d.events.Get(from.event)
		if err != nil {
			return refuse(err.Code, "command %d: %s", i, err.Detail)
		}
		e.recorded = e.recorded || l.commands[i].records()
	}
	return nil
}

// enqueued notes runs of the list's host calls from a command on.
func (l *list) enqueued(from, runs int) {
	if l.calls == 0 {
		return
	}
	for i := range l.sources[from:] {
		l.sources[from+i].call.enqueued(runs)
	}
}

// DestroyCommandList leaves what was submitted under way.
func (d *Device) DestroyCommandList(h device.CommandList) error {
	if err := d.enter(); err != nil {
		return err.In("DestroyCommandList")
	}
	defer d.mu.Unlock()
	l, err := d.lists.Remove(h)
	if err == nil {
		l.free()
	}
	return err.In("DestroyCommandList")
}
