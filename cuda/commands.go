//go:build cuda && cgo

package cuda

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

// list is a compiled command list. Its steps are the driver calls, in C memory; its sources are the Go data of the
// commands.
type list struct {
	steps   []step
	waits   []waitedFor
	sources []source // one per command
	calls   []int    // commands that make host calls, or run a graph with host calls
	checked uint64   // 1 + destroyed when all handles were last found live; 0 before
}

// source describes the origin of a command.
type source struct {
	step, within int    // index of the step, and of the command in the step
	kind         string // kind of the work, "" for other commands
	call         *hostCall
	graph        *instance
	stream       device.Stream
	event        device.Event
	foreign      *event // of another device
	records      bool
	exec         device.GraphExec
}

// places groups consecutive commands of one stream into steps. A step is some waits, then one piece of work, then one
// record; each part is optional.
func places(cs []device.Command) (at []source, steps, waits int) {
	at = make([]source, len(cs))
	var last device.CommandKind
	for i, c := range cs {
		joins := i > 0 && c.Stream == cs[i-1].Stream && (awaits(last) || c.Kind == device.Record && last != device.Record)
		if last = c.Kind; !joins {
			steps++
			at[i].step = steps - 1
		} else {
			at[i].step, at[i].within = steps-1, at[i-1].within+1
		}
		if awaits(c.Kind) {
			waits++
		}
	}
	return at, steps, waits
}

// awaits reports whether a command waits for an event.
func awaits(k device.CommandKind) bool { return k == device.Await || k == device.AwaitPeer }

// CompileCommands compiles a schedule to a list that SubmitCommands walks in C, and uploads the graphs that it runs.
func (d *gpuDevice) CompileCommands(cs []device.Command) (device.CommandList, error) {
	if d.hosts.inside() {
		return 0, d.enter().In("CompileCommands")
	}
	foreign, bad := peerEvents(cs)
	if err := d.enter(); err != nil {
		return 0, err.In("CompileCommands")
	}
	defer d.mu.Unlock()
	if bad != nil {
		return 0, bad.In("CompileCommands")
	}
	at, steps, waits := places(cs)
	l := &list{steps: newSteps(steps), waits: newWaits(waits)[:0], sources: at}
	for i, c := range cs {
		l.sources[i].foreign = foreign[i]
		if err := d.compile(l, i, c); err != nil {
			l.free()
			err.Detail = fmt.Sprintf("command %d: %s", i, err.Detail)
			return 0, err.In("CompileCommands")
		}
	}
	return d.lists.Add(l), nil
}

func (d *gpuDevice) compile(l *list, i int, c device.Command) *device.Error {
	from := &l.sources[i]
	out := &l.steps[from.step]
	s, err := d.streams.Get(c.Stream)
	if err != nil {
		return err
	}
	from.stream = c.Stream
	out.on(s, from.within+1)
	switch c.Kind {
	case device.Run:
		from.kind = contract.KindOf(c.Work)
		from.call, err = d.lower(out, c.Work)
		if from.call != nil {
			l.calls = append(l.calls, i)
		}
		return err
	case device.Record, device.Await:
		e, err := d.events.Get(c.Event)
		if err != nil {
			return err
		}
		from.event, from.records = c.Event, c.Kind == device.Record
		if from.records {
			out.mark(e.ev)
			return nil
		}
		l.await(from, e)
		return nil
	case device.AwaitPeer:
		l.await(from, from.foreign)
		return nil
	case device.RunGraph:
		x, err := d.execs.Get(c.Exec)
		if err != nil {
			return err
		}
		from.exec, from.graph = c.Exec, x
		if x.calls > 0 {
			l.calls = append(l.calls, i)
		}
		out.run(x.x)
		// Otherwise the first launch would upload it and take longer than the others. Drivers without uploads do it
		// then.
		if code := d.driver.uploadGraph(x.x, s); code != 0 && code != device.NotSupported {
			return d.failed("cuGraphUpload", code)
		}
		return nil
	}
	return contract.UnknownCommand(c.Kind)
}

// await makes the step of a command wait for an event.
func (l *list) await(from *source, e *event) {
	l.waits = append(l.waits, waitFor(e.ev))
	l.steps[from.step].await(l.waits[len(l.waits)-from.within-1:])
}

// free frees everything except what runs in progress use.
func (l *list) free() {
	freeSteps(l.steps)
	freeWaits(l.waits)
	for i := range l.sources {
		l.sources[i].call.release()
	}
}

// UpdateCommand changes the command in place, because the driver has copied what earlier submissions need.
func (d *gpuDevice) UpdateCommand(h device.CommandList, i int, w device.Work) error {
	if err := d.enter(); err != nil {
		return err.In("UpdateCommand")
	}
	defer d.mu.Unlock()
	l, err := d.lists.Get(h)
	if err != nil {
		return err.In("UpdateCommand")
	}
	if i < 0 || i >= len(l.sources) || l.sources[i].kind == "" {
		return refuse(device.InvalidValue, "command %d is not one of the list's %d commands that run work", i, len(l.sources)).In("UpdateCommand")
	}
	return d.patch(l, i, w).In("UpdateCommand")
}

func (d *gpuDevice) patch(l *list, i int, w device.Work) *device.Error {
	from := &l.sources[i]
	if err := first(contract.CheckWork(w, &d.info), sameKind(from.kind, w)); err != nil {
		return err
	}
	call, err := d.lower(&l.steps[from.step], w)
	if err != nil {
		return err
	}
	from.call.release()
	from.call = call
	return nil
}

func sameKind(was string, w device.Work) *device.Error {
	if is := contract.KindOf(w); is != was {
		return refuse(device.GraphUpdateForbidden, "a %s cannot become a %s; instantiate anew", was, is)
	}
	return nil
}

// SubmitCommands makes one call into C for any number of commands. It does work per command in Go only if a handle
// was destroyed since the last submission.
func (d *gpuDevice) SubmitCommands(h device.CommandList, from, n int) error {
	if err := d.enter(); err != nil {
		return err.In("SubmitCommands")
	}
	defer d.mu.Unlock()
	l, err := d.lists.Get(h)
	if err != nil {
		return err.In("SubmitCommands")
	}
	if err = contract.CheckRange(from, n, len(l.sources)); err == nil {
		err = d.check(l)
	}
	if err != nil || n == 0 {
		return err.In("SubmitCommands")
	}
	l.enqueued(from, n, 1)
	first, within, head, whole, tail := l.stretch(from, n)
	done, code := d.driver.submit(l.steps, first, within, head, whole, tail)
	if code == 0 {
		return nil
	}
	at := (from + done) % len(l.sources)
	l.enqueued(at, n-done, -1)
	failed := &l.sources[at]
	err = d.failed(l.steps[failed.step].calls(failed.within), code)
	err.Detail = fmt.Sprintf("command %d: %s", at, err.Detail)
	return err.In("SubmitCommands")
}

// stretch converts n commands, beginning with command from, to a range of steps for driver_submit. It has five
// results because Go would store a struct of five fields in memory, which costs a replay 15 ns.
func (l *list) stretch(from, n int) (first, within, head, whole, tail int) {
	rounds, end, commands := 0, from+n, len(l.sources)
	if end >= commands {
		rounds, end = 1, end-commands
	}
	if end >= commands { // avoids a division, which costs as much as the rest of this function
		rounds, end = rounds+end/commands, end%commands
	}
	begin, last := &l.sources[from], &l.sources[end]
	first, within, tail = begin.step, begin.within, last.within
	whole = rounds*len(l.steps) + last.step - first
	switch {
	case within == 0:
	case whole == 0: // the range ends in the step where it begins
		head, tail = n, 0
	default:
		head = l.steps[first].commands() - within
		whole--
	}
	return first, within, head, whole, tail
}

// check returns an error if a stream, an event or an instance was destroyed since the list was compiled. It marks the
// events that the list records.
func (d *gpuDevice) check(l *list) *device.Error {
	now := destroyed.Load()
	if l.checked > now {
		return nil
	}
	for i := range l.sources {
		if e := l.sources[i].foreign; e != nil && e.gone.Load() {
			return contract.GonePeerEvent(i)
		}
		if err := d.checkSource(&l.sources[i]); err != nil {
			return refuse(err.Code, "command %d: %s", i, err.Detail)
		}
	}
	l.checked = now + 1
	return nil
}

func (d *gpuDevice) checkSource(from *source) *device.Error {
	_, err := d.streams.Get(from.stream)
	if err == nil && from.exec != 0 {
		_, err = d.execs.Get(from.exec)
	}
	if err != nil || from.event == 0 {
		return err
	}
	e, err := d.events.Get(from.event)
	if err == nil && from.records {
		e.recorded = true
	}
	return err
}

// enqueued adds the runs of the host calls among n commands, beginning with command from. The argument runs is 1, or
// -1 for runs that will not happen.
func (l *list) enqueued(from, n, runs int) {
	for _, i := range l.calls {
		if times := runs * contract.Submitted(i, from, n, len(l.sources)); times != 0 {
			l.sources[i].call.enqueued(times)
			l.sources[i].graph.enqueued(times)
		}
	}
}

// DestroyCommandList destroys the list. Submitted work continues.
func (d *gpuDevice) DestroyCommandList(h device.CommandList) error {
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
