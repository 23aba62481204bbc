package sim

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

// list is a compiled command list.
type list struct{ commands []command }

// command is a device.Command with resolved handles.
type command struct {
	kind   device.CommandKind
	stream *stream
	event  *event
	job    *job
	exec   *exec
	handle device.GraphExec // handle of exec
}

// CompileCommands checks a schedule and resolves its handles.
func (d *Device) CompileCommands(cs []device.Command) (device.CommandList, error) {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return 0, err.In("CompileCommands")
	}
	l := &list{commands: make([]command, len(cs))}
	for i, c := range cs {
		var err *device.Error
		if l.commands[i], err = d.lowerCommand(c); err != nil {
			err.Detail = fmt.Sprintf("command %d: %s", i, err.Detail)
			return 0, err.In("CompileCommands")
		}
	}
	return d.lists.Add(l), nil
}

func (d *Device) lowerCommand(c device.Command) (out command, err *device.Error) {
	out.kind = c.Kind
	if out.stream, err = d.streams.Get(c.Stream); err != nil {
		return out, err
	}
	switch c.Kind {
	case device.Run:
		out.job, err = d.lower(c.Work)
	case device.Record, device.Await:
		out.event, err = d.events.Get(c.Event)
	case device.AwaitPeer:
		out.event, err = d.peerEvent(c.Peer, c.Event)
	case device.RunGraph:
		out.handle = c.Exec
		out.exec, err = d.execs.Get(c.Exec)
	default:
		err = contract.UnknownCommand(c.Kind)
	}
	return out, err
}

// UpdateCommand replaces one command's work for later submissions.
func (d *Device) UpdateCommand(h device.CommandList, i int, w device.Work) error {
	l, bad := d.lists.Get(h)
	if err := first(d.enter(0), bad); err != nil {
		return err.In("UpdateCommand")
	}
	if i < 0 || i >= len(l.commands) || l.commands[i].kind != device.Run {
		return (&device.Error{Code: device.InvalidValue,
			Detail: fmt.Sprintf("command %d is not one of the list's %d commands that run work", i, len(l.commands))}).In("UpdateCommand")
	}
	return d.replace(&l.commands[i].job, w).In("UpdateCommand")
}

// SubmitCommands has the effect and the host cost of one call per command: a list saves calls through cgo, not driver
// calls.
func (d *Device) SubmitCommands(h device.CommandList, from, n int) error {
	l, bad := d.lists.Get(h)
	if err := first(d.enter(0), bad, l.usable(), l.has(from, n)); err != nil {
		return err.In("SubmitCommands")
	}
	for range n {
		if err := d.command(&l.commands[from]); err != nil {
			err.Detail = fmt.Sprintf("command %d: %s", from, err.Detail)
			return err.In("SubmitCommands")
		}
		if from++; from == len(l.commands) {
			from = 0
		}
	}
	return nil
}

func (d *Device) command(c *command) *device.Error {
	switch c.kind {
	case device.Run:
		d.submit(c.stream, c.job)
	case device.Record:
		d.record(c.event, c.stream)
	case device.Await, device.AwaitPeer:
		d.wait(c.stream, c.event)
	case device.RunGraph:
		return d.launchGraph(c.exec, c.handle, d, c.stream)
	}
	return nil
}

func (l *list) has(from, n int) *device.Error {
	if l == nil {
		return nil
	}
	return contract.CheckRange(from, n, len(l.commands))
}

// usable returns an error if a stream, an event or a graph instance was destroyed since the list was compiled.
func (l *list) usable() *device.Error {
	if l == nil {
		return nil
	}
	for i := range l.commands {
		c := &l.commands[i]
		if c.kind == device.AwaitPeer && c.event.gone {
			return contract.GonePeerEvent(i)
		}
		if c.stream.gone || c.event != nil && c.event.gone || c.exec != nil && c.exec.gone {
			return &device.Error{Code: device.InvalidHandle, Detail: fmt.Sprintf("command %d uses a stream, event or graph instance that was destroyed", i)}
		}
	}
	return nil
}

// DestroyCommandList destroys the list. Submitted work continues.
func (d *Device) DestroyCommandList(h device.CommandList) error {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return err.In("DestroyCommandList")
	}
	_, err := d.lists.Remove(h)
	return err.In("DestroyCommandList")
}
