package graphexec

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// streamsBackend holds the program as one command list over a stream per lane.
//
// Replays must not overlap, so each forks from the first lane and joins it
// again. Only lanes that open with an operation nobody holds back need the
// fork, and only lanes whose last operation nobody waits for need the join: all
// other lanes are ordered through the waits of the schedule itself.
//
//	lane 0  ─ fork ─ a ────────── c ─ join ─
//	               ╲            ╱         ╱
//	lane 1          b ─────────●── d ────●
type streamsBackend struct {
	dev     device.Device
	prog    *program
	streams []device.Stream // by lane
	events  []device.Event  // every event made, for close
	list    device.CommandList
	index   []int // by operation: its Run command, -1 when it needs none
}

func newStreamsBackend(dev device.Device, p *program) (_ *streamsBackend, err error) {
	b := &streamsBackend{dev: dev, prog: p}
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
	cmds, err := b.commands()
	if err != nil {
		return nil, err
	}
	b.list, err = dev.CompileCommands(cmds)
	return b, err
}

func (b *streamsBackend) newEvent() (device.Event, error) {
	e, err := b.dev.CreateEvent()
	if err == nil {
		b.events = append(b.events, e)
	}
	return e, err
}

// commands lowers the schedule to the flat list that every replay submits.
func (b *streamsBackend) commands() ([]device.Command, error) {
	s := b.prog.sched
	cmds, err := b.fork(nil)
	if err != nil {
		return nil, err
	}
	records := s.Records()
	event := make([]device.Event, len(b.prog.work))
	b.index = make([]int, len(b.prog.work))
	for _, op := range s.Order {
		stream := b.streams[s.Lane[op]]
		for _, u := range s.Waits[op] {
			cmds = append(cmds, device.Command{Kind: device.Await, Stream: stream, Event: event[u]})
		}
		b.index[op] = -1
		if _, none := b.prog.work[op].(device.Nothing); !none {
			b.index[op] = len(cmds)
			cmds = append(cmds, device.Command{Kind: device.Run, Stream: stream, Work: b.prog.work[op]})
		}
		if records[op] {
			if event[op], err = b.newEvent(); err != nil {
				return nil, err
			}
			cmds = append(cmds, device.Command{Kind: device.Record, Stream: stream, Event: event[op]})
		}
	}
	return b.join(cmds, records)
}

// fork makes the lanes that open freely wait for the first lane's present end.
func (b *streamsBackend) fork(cmds []device.Command) ([]device.Command, error) {
	s := b.prog.sched
	seen := make([]bool, s.Lanes)
	var free []device.Stream
	for _, op := range s.Order {
		lane := s.Lane[op]
		if !seen[lane] && lane != 0 && len(s.Waits[op]) == 0 {
			free = append(free, b.streams[lane])
		}
		seen[lane] = true
	}
	if len(free) == 0 {
		return cmds, nil
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

// join makes the first lane wait for every other lane that nothing waits for.
func (b *streamsBackend) join(cmds []device.Command, records []bool) ([]device.Command, error) {
	s := b.prog.sched
	last := make([]ir.OpID, s.Lanes)
	for _, op := range s.Order {
		last[s.Lane[op]] = op
	}
	for lane := 1; lane < s.Lanes; lane++ {
		if records[last[lane]] {
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

func (b *streamsBackend) launch() error { return b.dev.SubmitCommands(b.list) }

func (b *streamsBackend) update(op ir.OpID) error {
	if b.index[op] < 0 {
		return nil
	}
	return b.dev.UpdateCommand(b.list, b.index[op], b.prog.work[op])
}

func (b *streamsBackend) origin() device.Stream { return b.streams[0] }

func (b *streamsBackend) close() error {
	var errs []error
	if b.list != 0 {
		errs = append(errs, b.dev.DestroyCommandList(b.list))
	}
	for _, e := range b.events {
		errs = append(errs, b.dev.DestroyEvent(e))
	}
	for _, s := range b.streams {
		errs = append(errs, b.dev.DestroyStream(s))
	}
	return device.Join(errs...)
}
