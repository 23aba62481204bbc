package compare

import (
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/overlap"
	"github.com/reprise-gpu/reprise/internal/contract"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// stopwatch is a device that records an event before and after each piece of work of a command list.
//
// The first event completes when the work may start, so kernels that wait for multiprocessors appear to run: the
// measured overlap of kernels is an upper bound. Copies of one direction follow each other on their engine, so that
// of copies is exact. The time from the first event to the work is about that between two consecutive events.
type stopwatch struct {
	device.Device
	pinned []overlap.Span // addresses of pinned memory
	lists  map[device.CommandList]*timed
	last   *timed // the list submitted last
	events []device.Event
}

// timed is a list with events.
type timed struct {
	origin, blank device.Event // the first two, recorded one after the other
	laps          []lap
	at            []int // by command of the original list: its position in this list; the last element is the length of this list
}

// place returns the position of command i; i may exceed the length of the list.
func (t *timed) place(i int) int {
	last := len(t.at) - 1
	return i/last*t.at[last] + t.at[i%last]
}

// lap is one piece of work.
type lap struct {
	kind          kind
	engine        int // direction of a transfer
	before, after device.Event
}

func newStopwatch(dev device.Device, trace *tracer.Trace) *stopwatch {
	w := &stopwatch{Device: dev, lists: map[device.CommandList]*timed{}}
	for i := range trace.Graph.Buffers {
		if b := &trace.Graph.Buffers[i]; b.Place.Kind != ir.OnDevice {
			at := int64(trace.Pointer(ir.BufferID(i)))
			w.pinned = append(w.pinned, overlap.Span{Begin: at, End: at + b.Size()})
		}
	}
	return w
}

// CompileCommands adds events to a list that runs work. The list must begin on its first stream, for which all others
// wait.
func (w *stopwatch) CompileCommands(all []device.Command) (device.CommandList, error) {
	if !slices.ContainsFunc(all, func(c device.Command) bool { return c.Kind == device.Run }) {
		return w.Device.CompileCommands(all)
	}
	var err error
	event := func() (e device.Event) {
		if err == nil {
			e, err = w.CreateEvent()
		}
		if err == nil {
			w.events = append(w.events, e)
		}
		return e
	}
	t := &timed{origin: event(), blank: event()}
	cmds := []device.Command{
		{Kind: device.Record, Stream: all[0].Stream, Event: t.origin},
		{Kind: device.Record, Stream: all[0].Stream, Event: t.blank},
	}
	for _, c := range all {
		t.at = append(t.at, len(cmds))
		if c.Kind != device.Run {
			cmds = append(cmds, c)
			continue
		}
		l := w.lap(c.Work)
		l.before, l.after = event(), event()
		t.laps = append(t.laps, l)
		cmds = append(cmds,
			device.Command{Kind: device.Record, Stream: c.Stream, Event: l.before}, c,
			device.Command{Kind: device.Record, Stream: c.Stream, Event: l.after})
	}
	if err != nil {
		return 0, err
	}
	t.at[0] = 0 // includes the first two events
	t.at = append(t.at, len(cmds))
	list, err := w.Device.CompileCommands(cmds)
	w.lists[list] = t
	return list, err
}

// SubmitCommands records which events belong to the last replay.
func (w *stopwatch) SubmitCommands(list device.CommandList, from, n int) error {
	t := w.lists[list]
	if t == nil {
		return w.Device.SubmitCommands(list, from, n)
	}
	w.last = t
	return w.Device.SubmitCommands(list, t.place(from), t.place(from+n)-t.place(from))
}

func (w *stopwatch) lap(work device.Work) lap {
	const in, out = 1, 2
	switch contract.KindOf(work) {
	case "launch":
		return lap{kind: kernel}
	case "prefetch":
		return lap{kind: transfer, engine: in}
	case "copy":
		c := work.(*device.Copy)
		switch {
		case w.onHost(c.Dst) && !w.onHost(c.Src):
			return lap{kind: transfer, engine: out}
		case w.onHost(c.Src) && !w.onHost(c.Dst):
			return lap{kind: transfer, engine: in}
		}
	}
	return lap{kind: other}
}

func (w *stopwatch) onHost(p device.Ptr) bool {
	return slices.ContainsFunc(w.pinned, func(s overlap.Span) bool { return s.Begin <= int64(p) && int64(p) < s.End })
}

// read returns when the work of the last replay ran, relative to the start of the replay.
func (w *stopwatch) read() (ran []work, err error) {
	since := func(e device.Event) int64 {
		var d time.Duration
		if err == nil {
			d, err = w.Elapsed(w.last.origin, e)
		}
		return d.Nanoseconds()
	}
	blank := since(w.last.blank)
	for _, l := range w.last.laps {
		begin, end := since(l.before), since(l.after)
		ran = append(ran, work{l.kind, overlap.Span{Begin: min(begin+blank, end), End: end}})
	}
	w.queue(ran)
	return ran, err
}

// queue makes each transfer begin after the previous one on its engine has ended.
func (w *stopwatch) queue(ran []work) {
	var order []int
	for i := range ran {
		if ran[i].kind == transfer {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(ran[a].at.End - ran[b].at.End) })
	var free [3]int64 // by engine
	for _, i := range order {
		engine := w.last.laps[i].engine
		ran[i].at.Begin = max(ran[i].at.Begin, free[engine])
		free[engine] = ran[i].at.End
	}
}

// close destroys the events.
func (w *stopwatch) close() error {
	var errs []error
	for _, e := range w.events {
		errs = append(errs, w.DestroyEvent(e))
	}
	return device.Join(errs...)
}
