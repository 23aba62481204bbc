package graphexec

import (
	"context"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
)

// streamsBackend replays the program as a command list over one stream per lane. A wait of the
// schedule becomes an event: Record after the operation, Await before the waiting one.
//
// Replays must not overlap each other, nor other work on the first lane. A replay therefore forks from
// that lane and joins it again. Only lanes whose first operation has no wait need the fork, and only
// lanes whose last operation has no waiter need the join: the waits of the schedule order all others.
//
//	lane 0  ─ fork ─ a ────────── c ─ join ─
//	               ╲            ╱         ╱
//	lane 1          b ─────────●── d ────●
//
// The list is submitted cyclically, and a submission may start and end anywhere in it:
//
//	0        forks              join      end
//	│ fork   │ operations       │ join    │ (then fork again)
//
//	streams empty:   operations                             the join is left to the next replay
//	last one open:   join fork operations                   likewise
//	Stream called:   fork operations join
//
// The streams are empty after Wait. Wait synchronizes with the open lanes one by one instead of the
// join, which costs the host nothing while the last of them is still running. In the benchmark B&S,
// with ten chains, fork and join are a third of the calls.
type streamsBackend struct {
	dev     device.Device
	prog    *program
	streams []device.Stream // by lane
	compiled

	empty  bool  // no replay was enqueued since the last Wait
	loose  bool  // the last replay has not been joined
	shared bool  // Stream was called: other work may be on the first lane
	failed error // error of the join when Stream was called
}

// compiled is the command list and the objects that it uses. rebuild replaces it as a whole.
type compiled struct {
	open   []device.Stream // streams of the lanes whose last operation has no waiter
	events []device.Event  // every event made, for close
	index  []int           // by operation: index of its Run command after the fork; -1 without one
	groups groups

	list  device.CommandList
	forks int // number of commands of the fork
	join  int // index of the first command of the join
	end   int // number of commands
}

func newStreamsBackend(dev device.Device, p *program) (_ *streamsBackend, err error) {
	b := &streamsBackend{dev: dev, prog: p, empty: true}
	defer func() {
		if err != nil {
			err = device.Join(err, b.close())
		}
	}()
	for range max(1, p.sched.Lanes) {
		s, err := dev.CreateStream(0)
		if err != nil {
			return nil, err
		}
		b.streams = append(b.streams, s)
	}
	return b, b.compile()
}

// compile makes the command list.
func (b *streamsBackend) compile() error {
	records := schedules.Records(b.prog.sched)
	fork, err := b.forkCommands()
	if err != nil {
		return err
	}
	ops, err := b.commands(records)
	if err != nil {
		return err
	}
	join, err := b.joinCommands()
	if err != nil {
		return err
	}
	b.forks, b.join, b.end = len(fork), len(fork)+len(ops), len(fork)+len(ops)+len(join)
	b.list, err = b.dev.CompileCommands(slices.Concat(fork, ops, join))
	return err
}

func (b *streamsBackend) newEvent() (device.Event, error) {
	e, err := b.dev.CreateEvent()
	if err == nil {
		b.events = append(b.events, e)
	}
	return e, err
}

// commands lowers the operations of the schedule to a flat list. For each group of operations that
// are launched together it appends
//
//	Await …, Run or RunGraph, Record
//
// Only the first operation of a group has waits, and only the last one is waited for. A single
// operation without control flow needs no graph; one that does nothing needs no command.
func (b *streamsBackend) commands(records []bool) (cmds []device.Command, err error) {
	s := b.prog.sched
	event := make([]device.Event, len(b.prog.work))
	b.index = slices.Repeat([]int{-1}, len(b.prog.work))
	for ops := range schedules.Groups(s) {
		first, last := ops[0], ops[len(ops)-1]
		stream := b.streams[s.Lane[first]]
		for _, u := range s.Waits[first] {
			cmds = append(cmds, device.Command{Kind: device.Await, Stream: stream, Event: event[u]})
		}
		switch ops := b.running(ops); {
		case len(ops) == 0:
		case len(ops) == 1 && s.Graph.Ops[ops[0]].Control == nil:
			b.index[ops[0]] = len(cmds)
			cmds = append(cmds, device.Command{Kind: device.Run, Stream: stream, Work: b.prog.work[ops[0]]})
		default:
			exec, err := b.group(ops)
			if err != nil {
				return nil, err
			}
			cmds = append(cmds, device.Command{Kind: device.RunGraph, Stream: stream, Exec: exec})
		}
		if records[last] {
			if event[last], err = b.newEvent(); err != nil {
				return nil, err
			}
			cmds = append(cmds, device.Command{Kind: device.Record, Stream: stream, Event: event[last]})
		}
	}
	return cmds, nil
}

// running returns the operations whose work is not empty.
func (b *streamsBackend) running(ops []ir.OpID) []ir.OpID {
	return slices.DeleteFunc(slices.Clone(ops), func(v ir.OpID) bool {
		_, none := b.prog.work[v].(device.Nothing)
		return none
	})
}

// forkCommands returns the commands of the fork: each lane whose first operation has no wait, except
// the first lane, waits for the work on the first lane. Other lanes follow these by their own waits.
func (b *streamsBackend) forkCommands() (cmds []device.Command, err error) {
	s := b.prog.sched
	var free []device.Stream
	for _, op := range firstOps(s) {
		if lane := s.Lane[op]; lane != 0 {
			free = append(free, b.streams[lane])
		}
	}
	if len(free) == 0 {
		return nil, nil
	}
	e, err := b.newEvent()
	if err != nil {
		return nil, err
	}
	cmds = append(cmds, device.Command{Kind: device.Record, Stream: b.streams[0], Event: e})
	for _, stream := range free {
		cmds = append(cmds, device.Command{Kind: device.Await, Stream: stream, Event: e})
	}
	return cmds, nil
}

// joinCommands returns the commands of the join: the first lane waits for each other lane whose last
// operation has no waiter. These lanes, and the first one if it is such a lane, are stored in open, in
// the submission order of their last operations.
func (b *streamsBackend) joinCommands() (cmds []device.Command, err error) {
	s := b.prog.sched
	for _, op := range lastOps(s) {
		lane := s.Lane[op]
		b.open = append(b.open, b.streams[lane])
		if lane == 0 {
			continue
		}
		e, err := b.newEvent()
		if err != nil {
			return nil, err
		}
		cmds = append(cmds,
			device.Command{Kind: device.Record, Stream: b.streams[lane], Event: e},
			device.Command{Kind: device.Await, Stream: b.streams[0], Event: e})
	}
	return cmds, nil
}

// launch enqueues n replays as one range of the cyclic list. The range starts at the join if that is
// pending, after the fork if nothing is enqueued, and otherwise at the fork. It ends before the last
// join, unless Stream was called.
func (b *streamsBackend) launch(n int) error {
	if b.failed != nil {
		return b.failed
	}
	from, commands := 0, b.join+(n-1)*b.end
	switch {
	case b.loose && b.join < b.end:
		from, commands = b.join, commands+b.end-b.join
	case b.empty && !b.shared:
		from, commands = b.forks, commands-b.forks
	}
	b.empty, b.loose = false, b.join < b.end
	if b.shared {
		b.loose, commands = false, commands+b.end-b.join
	}
	err := b.dev.SubmitCommands(b.list, from, commands)
	if err != nil {
		b.open, b.loose = b.streams, true // any stream may have work: which commands were submitted is unknown
	}
	return err
}

func (b *streamsBackend) length() int { return b.end }

// tie enqueues the join of the last replay if it is pending.
func (b *streamsBackend) tie() error {
	if !b.loose || b.join == b.end {
		return nil
	}
	b.loose = false
	return b.dev.SubmitCommands(b.list, b.join, b.end-b.join)
}

// wait synchronizes with the first lane, or with all open lanes if the last replay is not joined.
func (b *streamsBackend) wait(ctx context.Context) error {
	ends := b.streams[:1]
	if b.loose {
		ends = b.open
	}
	var first error
	for _, stream := range ends { // all of them: an error on one stream does not end the work of others
		if err := b.dev.SynchronizeContext(ctx, stream); err != nil && first == nil {
			first = err
		}
	}
	if first != nil {
		return first
	}
	b.empty, b.loose = true, false
	return b.failed
}

func (b *streamsBackend) update(works []opWork) (int, error) {
	for i, w := range works {
		var err error
		switch n, grouped := b.groups.node[w.op]; {
		case b.groups.holds(b.prog, w.op):
			err = b.groups.update(b.dev, w)
		case grouped:
			err = b.dev.UpdateNode(n.exec, n.node, w.work)
		case b.index[w.op] >= 0:
			err = b.dev.UpdateCommand(b.list, b.forks+b.index[w.op], w.work)
		}
		if err != nil {
			return i, err
		}
	}
	return 0, nil
}

// keeps reports whether an operation is a node of a group, or of a body in one.
func (b *streamsBackend) keeps(op ir.OpID) bool {
	_, grouped := b.groups.node[op]
	return grouped || int(op) >= len(b.index)
}

// rebuild compiles the present program again. The streams remain, because Stream may have returned the
// first one. If it fails, the old list remains.
func (b *streamsBackend) rebuild() error {
	if err := b.wait(context.Background()); err != nil {
		return err
	}
	was := b.compiled
	b.compiled = compiled{}
	if err := b.compile(); err != nil {
		err = device.Join(err, b.compiled.close(b.dev))
		b.compiled = was
		return err
	}
	return was.close(b.dev)
}

// origin returns the stream of the first lane. From now on every replay ends with its join, so that
// work of the caller on that stream follows the whole replay.
func (b *streamsBackend) origin() device.Stream {
	b.shared = true
	if err := b.tie(); err != nil {
		b.failed = err
	}
	return b.streams[0]
}

func (b *streamsBackend) close() error {
	errs := []error{b.compiled.close(b.dev)}
	for _, s := range b.streams {
		errs = append(errs, b.dev.DestroyStream(s))
	}
	return device.Join(errs...)
}

func (c *compiled) close(dev device.Device) error {
	var errs []error
	if c.list != 0 {
		errs = append(errs, dev.DestroyCommandList(c.list))
	}
	errs = append(errs, c.groups.destroy(dev)...)
	for _, e := range c.events {
		errs = append(errs, dev.DestroyEvent(e))
	}
	return device.Join(errs...)
}
