package ranks

import (
	"context"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/ranks/launches"
	"github.com/reprise-gpu/reprise/ir"
)

// round is one round of a plan on this rank, ready to run.
type round struct {
	loads    []load
	segments []segment
}

// load is initial contents that a device gets before the round. No work that is in progress accesses these bytes.
type load struct {
	device int // of the rank
	bytes  ir.Range
}

// segment is work up to an exchange, or up to the end of the round if exchange is nil.
type segment struct {
	lists    []list // in the order of submission
	parts    [streams]part
	exchange *exchange
	// restLater is set if the rest depends on the urgent part of the same segment.
	restLater bool
}

// list is a command list of one device.
type list struct {
	device   int // of the rank
	commands []device.Command
	compiled device.CommandList
}

// builder lowers the rounds of a plan to command lists.
type builder struct {
	p      *Plan
	events map[distribute.Wait]event // by operation that others wait for
}

// event is an event of a device of the rank.
type event struct {
	device int
	event  device.Event
}

// build lowers all rounds of the plan. Exchanges are frozen, which is collective.
func (p *Plan) build(ctx context.Context) error {
	st := newStaging(p)
	exchanges := make([][]*exchange, len(p.plan.Rounds))
	for r := range p.plan.Rounds {
		for x := range p.plan.Rounds[r].Exchanges {
			e, err := st.exchange(ctx, r, x)
			if err != nil {
				return err
			}
			exchanges[r] = append(exchanges[r], e)
		}
	}
	lower := p.buildGraphs
	if p.options.Streams {
		lower = p.buildLists
	}
	if err := lower(st, exchanges); err != nil {
		return err
	}
	if planned := p.plan.Staging()[p.rank.Number()]; st.bytes != planned {
		return fmt.Errorf("BUG: rank %d has %d bytes of staging memory, and %d were planned", p.rank.Number(), st.bytes, planned)
	}
	return nil
}

// buildGraphs lowers the rounds to graphs.
func (p *Plan) buildGraphs(st *staging, exchanges [][]*exchange) error {
	g := &graphs{p, st}
	all := launches.Of(p.plan, p.rank.first, len(p.rank.devices))
	p.recorded, p.unrolledSteps = all.Joined, all.UnrolledSteps
	for r := range p.plan.Rounds {
		one, err := g.round(r, all.Rounds[r], exchanges[r])
		if err != nil {
			return err
		}
		p.rounds = append(p.rounds, one)
	}
	for i := range all.Bridges {
		next := p.plan.Repeat + (i+1)%len(all.Bridges)
		one, err := g.segment(&all.Bridges[i], exchanges[next])
		if err != nil {
			return err
		}
		p.bridges = append(p.bridges, one)
	}
	var err error
	if p.unrolled, err = g.graph(&all.Unrolled); err != nil {
		return err
	}
	for s := range p.ends {
		for i := range p.ends[s] {
			if p.ends[s][i], err = p.rank.devices[0].CreateEvent(); err != nil {
				return p.at(0, err)
			}
		}
	}
	return nil
}

// buildLists lowers the rounds to command lists.
func (p *Plan) buildLists(st *staging, exchanges [][]*exchange) error {
	b := &builder{p: p, events: map[distribute.Wait]event{}}
	if err := b.record(); err != nil {
		return err
	}
	for r := range p.plan.Rounds {
		one, err := b.round(r, st, exchanges[r])
		if err != nil {
			return err
		}
		p.rounds = append(p.rounds, one)
	}
	return p.compile()
}

// mine reports whether the plan's operation runs on this rank, and returns the number of its device in the rank.
func (p *Plan) mine(op *distribute.Op) (int, bool) {
	d := int(op.Device - p.rank.first)
	return d, d >= 0 && d < len(p.rank.devices)
}

// record creates an event for each operation that another one of this rank waits for.
func (b *builder) record() error {
	for r := range b.p.plan.Rounds {
		ops := b.p.plan.Rounds[r].Ops
		for i := range ops {
			if _, is := b.p.mine(&ops[i]); !is {
				continue
			}
			for _, w := range ops[i].Waits {
				if err := b.event(w); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// event creates the event of an operation.
func (b *builder) event(w distribute.Wait) error {
	if _, is := b.events[w]; is {
		return nil
	}
	d, _ := b.p.mine(&b.p.plan.Rounds[w.Round].Ops[w.Op])
	e, err := b.p.rank.devices[d].CreateEvent()
	if err != nil {
		return err
	}
	b.p.events = append(b.p.events, event{d, e})
	b.events[w] = event{d, e}
	return nil
}

// round lowers one round.
//
// The operations between two exchanges are divided into stages. A stage is one list for each device, submitted in the order
// of devices. An operation that waits for one of a later device of the same segment belongs to a later stage, because the
// record of an event must be submitted before its wait.
func (b *builder) round(r int, st *staging, exchanges []*exchange) (round, error) {
	var one round
	src := &b.p.plan.Rounds[r]
	s := newStager(b.p, r)
	x := 0
	flush := func() {
		seg := segment{lists: s.lists()}
		s = newStager(b.p, r)
		one.segments = append(one.segments, seg)
	}
	for i := range src.Ops {
		for ; x < len(src.Exchanges) && src.Exchanges[x].At == i; x++ {
			flush()
			one.segments[len(one.segments)-1].exchange = exchanges[x]
		}
		op := &src.Ops[i]
		d, is := b.p.mine(op)
		if !is {
			continue
		}
		if op.Kind == distribute.Load {
			one.loads = append(one.loads, load{d, op.Bytes})
			continue
		}
		commands, err := b.op(r, i, d, op, st)
		if err != nil {
			return one, fmt.Errorf("device %d: %w", d, err)
		}
		s.add(i, d, op, commands)
	}
	flush()
	return one, nil
}

// op returns the commands of one operation: its waits, its work and its event.
func (b *builder) op(r, i, d int, op *distribute.Op, st *staging) ([]device.Command, error) {
	stream := b.p.lanes[d][b.p.plan.Lane(op)]
	var list []device.Command
	for _, w := range op.Waits {
		switch e := b.events[w]; {
		case e.device == d:
			list = append(list, device.Command{Kind: device.Await, Stream: stream, Event: e.event})
		default:
			list = append(list, device.Command{Kind: device.AwaitPeer, Stream: stream, Event: e.event, Peer: b.p.rank.devices[e.device]})
		}
	}
	work, err := b.p.work(r, i, d, op, st)
	if err != nil {
		return nil, err
	}
	for _, w := range work {
		list = append(list, device.Command{Kind: device.Run, Stream: stream, Work: w})
	}
	if e, is := b.events[distribute.Wait{Round: int32(r), Op: int32(i)}]; is {
		list = append(list, device.Command{Kind: device.Record, Stream: stream, Event: e.event})
	}
	return list, nil
}

// work returns the work of one operation: one item, or those of the boxes that a transfer moves, which run one after the other.
func (p *Plan) work(r, i, d int, op *distribute.Op, st *staging) ([]device.Work, error) {
	if op.Kind == distribute.Run {
		dec := &p.plan.Decisions[op.Of]
		w, err := p.code.work(d, op.Of, dec, &dec.Chunks[op.Chunk], p.memory[d])
		return []device.Work{w}, err
	}
	m := mover{code: p.code, dev: d, memory: p.memory[d], boxes: p.plan.Frame(op.Bytes.Buffer).Boxes(op.Bytes.Lo, op.Bytes.Hi), buffer: op.Bytes.Buffer}
	if op.Kind == distribute.Push {
		return m.push(p.memory[op.Peer-p.rank.first])
	}
	stage, err := st.place(r, i, op)
	if err != nil {
		return nil, err
	}
	m.scratch = p.scratch[d][p.plan.Lane(op)]
	return m.stage(stage, op.Kind == distribute.Out)
}

// stager divides the operations of a segment into stages.
type stager struct {
	p      *Plan
	round  int32
	stage  map[int32]int              // by operation: its stage
	device map[int32]int              // by operation: its device
	last   []int                      // by device: the stage of its last operation
	work   []map[int][]device.Command // by stage: by device
}

func newStager(p *Plan, r int) *stager {
	return &stager{p: p, round: int32(r), stage: map[int32]int{}, device: map[int32]int{}, last: make([]int, len(p.rank.devices))}
}

// add appends an operation.
func (s *stager) add(i, d int, op *distribute.Op, commands []device.Command) {
	at := s.last[d]
	for _, w := range op.Waits {
		u, is := s.stage[w.Op]
		if w.Round != s.round || !is || int(w.Op) >= i { // submitted before
			continue
		}
		if s.device[w.Op] > d {
			u++
		}
		at = max(at, u)
	}
	s.stage[int32(i)], s.device[int32(i)], s.last[d] = at, d, at
	for len(s.work) <= at {
		s.work = append(s.work, map[int][]device.Command{})
	}
	s.work[at][d] = append(s.work[at][d], commands...)
}

// lists returns the lists in the order of submission.
func (s *stager) lists() (all []list) {
	for _, stage := range s.work {
		for d := range s.p.rank.devices {
			if len(stage[d]) > 0 {
				all = append(all, list{device: d, commands: stage[d]})
			}
		}
	}
	return all
}

// compile compiles the command lists of all rounds.
func (p *Plan) compile() error {
	for r := range p.rounds {
		for s := range p.rounds[r].segments {
			lists := p.rounds[r].segments[s].lists
			for i := range lists {
				l := &lists[i]
				var err error
				if l.compiled, err = p.rank.devices[l.device].CompileCommands(l.commands); err != nil {
					return p.at(l.device, err)
				}
			}
		}
	}
	return nil
}
