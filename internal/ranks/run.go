package ranks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/internal/transport"
	"github.com/reprise-gpu/reprise/internal/until"
	"github.com/reprise-gpu/reprise/ir"
)

// ErrClosed is the error of a plan that was closed.
var ErrClosed = sentinel.New(sentinel.ErrClosed, "use of a closed plan")

// usable returns an error if the plan is closed or a step has failed.
func (p *Plan) usable() error {
	if p.closed {
		return ErrClosed
	}
	return p.failed
}

// failure ends the run on all ranks and returns err.
func (p *Plan) failure(err error) error {
	if err != nil && p.failed == nil {
		p.failed = err
		p.rank.transport.Abort(err)
	}
	return err
}

// roundOf returns the round of a step.
func (p *Plan) roundOf(step int) int {
	n := len(p.plan.Rounds)
	if step < n {
		return step
	}
	return p.plan.Repeat + (step-p.plan.Repeat)%(n-p.plan.Repeat)
}

// pending is the largest number of steps that are submitted before the host waits for the devices.
const pending = 256

// Run runs a number of steps and waits for them. It is collective. An error ends the run on all ranks; the plan can then
// only be closed. Ranks that pass different numbers of steps get an error before the first one.
func (p *Plan) Run(ctx context.Context, steps int) error {
	if err := p.usable(); err != nil {
		return err
	}
	if err := p.agree(ctx, fmt.Sprintf("Run of %d steps", steps)); err != nil {
		return err
	}
	if steps < 0 {
		return fmt.Errorf("%d steps were requested: the number must not be negative", steps)
	}
	return p.failure(p.run(ctx, steps))
}

// agree returns an error unless all ranks make the same call. It costs one gather for each call of the program, and none for
// a step.
func (p *Plan) agree(ctx context.Context, call string) error {
	_, err := p.gather(ctx, call, nil)
	return err
}

// gather gathers bytes on behalf of a call. If the ranks make different calls, each gets the same error, and the plan can
// then only be closed.
func (p *Plan) gather(ctx context.Context, call string, mine []byte) ([][]byte, error) {
	all, err := p.rank.gather(ctx, call, mine)
	if differ := (*transport.CallError)(nil); errors.As(err, &differ) {
		p.failed = err
		return nil, err
	}
	return all, p.failure(err)
}

func (p *Plan) run(ctx context.Context, steps int) error {
	for done := 0; done < steps; {
		n, err := p.submit(ctx, steps-done)
		if err != nil {
			return err
		}
		due := p.checkpoints.every > 0 && p.steps%p.checkpoints.every == 0
		if done+n == steps || done/pending < (done+n)/pending || due {
			if err := p.wait(ctx); err != nil {
				return err
			}
		}
		if due {
			if err := p.save(); err != nil {
				return err
			}
		}
		done += n
	}
	return nil
}

// submit submits one step, or several at once: at most the given number. It returns the number.
func (p *Plan) submit(ctx context.Context, most int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if p.whole(most) {
		p.steps += p.unrolledSteps
		return p.unrolledSteps, p.launchPart(restStream, &p.unrolled)
	}
	p.steps++
	return 1, p.step(ctx, p.joined(p.steps, most), p.joined(p.steps+1, most-1))
}

// joined reports whether a step can be joined with the one behind it. steps is the number of steps up to it, and most the largest
// number of steps to submit from it on.
func (p *Plan) joined(steps, most int) bool {
	every := p.checkpoints.every
	return most > 1 && !(every > 0 && steps%every == 0)
}

// whole reports whether the next steps can be the unrolled ones.
func (p *Plan) whole(most int) bool {
	every := p.checkpoints.every
	return p.unrolled.exec != 0 && most >= p.unrolledSteps && p.steps >= p.plan.Repeat &&
		(p.steps-p.plan.Repeat)%(len(p.plan.Rounds)-p.plan.Repeat) == 0 && (every == 0 || p.steps%every+p.unrolledSteps <= every)
}

// step submits one step, whose number is p.steps-1. If more steps follow at once, the segment behind the last exchange is joined
// with the first one of the next step. further is set if more steps also follow that one.
func (p *Plan) step(ctx context.Context, more, further bool) error {
	r := p.roundOf(p.steps - 1)
	one := &p.rounds[r]
	more = more && r >= p.plan.Repeat && len(p.bridges) > 0
	if p.steps > 1 || !p.loaded {
		if err := p.loadAll(one); err != nil {
			return err
		}
	}
	for i := range one.segments {
		s := &one.segments[i]
		last := i == len(one.segments)-1
		if last && more {
			s = &p.bridges[r-p.plan.Repeat]
		}
		if !(i == 0 && p.bridged) {
			if err := p.launch(s, p.following(i, r, more, further)); err != nil {
				return err
			}
		}
		if last {
			p.bridged = more
			return nil // the exchange behind a bridge is that of the next step
		}
		if s.exchange != nil {
			if err := p.exchange(ctx, s.exchange); err != nil {
				return err
			}
		}
	}
	return nil
}

// following returns the segment that follows segment i of a step of round r, nil if it is not known.
func (p *Plan) following(i, r int, more, further bool) *segment {
	if i == len(p.rounds[r].segments)-1 {
		if !more {
			return nil
		}
		i, r, more = 0, p.roundOf(p.steps), further
	}
	if i+1 == len(p.rounds[r].segments)-1 && more {
		return &p.bridges[r-p.plan.Repeat]
	}
	return &p.rounds[r].segments[i+1]
}

// launch submits the work of a segment. next is the segment that follows, nil if it is not known. Its rest is submitted at once,
// so that the host spends the time before the exchange with it, and not the time after it.
func (p *Plan) launch(s, next *segment) error {
	if p.options.Streams {
		for j := range s.lists {
			l := &s.lists[j]
			if err := p.rank.devices[l.device].SubmitCommands(l.compiled, 0, len(l.commands)); err != nil {
				return p.at(l.device, err)
			}
		}
		return nil
	}
	rest := !p.ahead || s.restLater
	if !p.ahead {
		p.before = p.latest
		if err := p.awaitRest(s); err != nil {
			return err
		}
	}
	urgent, aside := &s.parts[urgentStream], &s.parts[asideStream]
	// Not before the exchange: a host that waits for a stream also waits for what the stream waits for.
	if err := p.followAll(urgentStream, urgent, p.before); err != nil {
		return err
	}
	if err := p.launchPart(urgentStream, urgent); err != nil {
		return err
	}
	if rest {
		if err := p.launchRest(s); err != nil {
			return err
		}
	}
	if err := p.followAll(asideStream, aside, p.latest); err != nil {
		return err
	}
	if err := p.launchPart(asideStream, aside); err != nil {
		return err
	}
	return p.begin(next)
}

// begin submits the rest of the next segment, or only its waits if it needs the urgent part.
func (p *Plan) begin(next *segment) error {
	if p.ahead = next != nil; !p.ahead {
		return nil
	}
	p.before = p.latest
	if err := p.awaitRest(next); err != nil || next.restLater {
		return err
	}
	return p.launchRest(next)
}

// awaitRest makes the rest of a segment wait for what it depends on, before the urgent part, which it need not wait for.
func (p *Plan) awaitRest(s *segment) error {
	return p.followAll(restStream, &s.parts[restStream], p.latest)
}

// launchRest launches the rest of a segment, whose waits have been submitted.
func (p *Plan) launchRest(s *segment) error {
	rest := &s.parts[restStream]
	if s.restLater && rest.exec != 0 {
		if err := p.follow(restStream, urgentStream, p.latest); err != nil {
			return err
		}
	}
	return p.launchPart(restStream, rest)
}

// stream returns a stream of the graphs. The lanes of the first device have the priorities.
func (p *Plan) stream(s int) device.Stream {
	return p.lanes[0][[streams]distribute.Lane{distribute.Edge, distribute.Compute, distribute.Aside}[s]]
}

// follow makes a stream wait for the end of a graph of another: that whose event is at[other].
func (p *Plan) follow(stream, other int, at [streams]int) error {
	return p.at(0, p.rank.devices[0].Wait(p.stream(stream), p.ends[other][at[other]]))
}

// followAll makes a stream wait for the ends of graphs of those streams on whose graphs a graph depends.
func (p *Plan) followAll(stream int, one *part, at [streams]int) error {
	if one.exec == 0 {
		return nil
	}
	for other, is := range one.waits {
		if !is {
			continue
		}
		if err := p.follow(stream, other, at); err != nil {
			return err
		}
	}
	return nil
}

// launchPart launches a graph.
func (p *Plan) launchPart(stream int, one *part) error {
	if one.exec == 0 {
		return nil
	}
	dev := p.rank.devices[0]
	if err := dev.LaunchGraph(one.exec, p.stream(stream)); err != nil {
		return p.at(0, err)
	}
	if !p.recorded {
		return nil
	}
	p.latest[stream] = 1 - p.latest[stream]
	return p.at(0, dev.Record(p.ends[stream][p.latest[stream]], p.stream(stream)))
}

// wait waits for all work of the rank.
func (p *Plan) wait(ctx context.Context) error {
	for d, dev := range p.rank.devices {
		for _, s := range p.lanes[d] {
			if err := dev.SynchronizeContext(ctx, s); err != nil {
				return p.at(d, err)
			}
		}
	}
	return nil
}

// exchange waits until the bytes to send are in staging memory, and those of the last exchange have left it, and exchanges
// the messages.
func (p *Plan) exchange(ctx context.Context, e *exchange) error {
	if err := p.ready(ctx, e); err != nil {
		return err
	}
	if e.frozen == nil {
		return nil
	}
	if e.clock != nil {
		e.clock.depart(p.rank.devices[0].Now())
	}
	if err := e.frozen.Run(ctx); err != nil {
		return err
	}
	if e.clock != nil {
		p.until(e.clock.arrive())
	}
	return nil
}

// ready waits until staging memory can be sent and received into.
func (p *Plan) ready(ctx context.Context, e *exchange) error {
	if !p.options.Streams {
		return p.at(0, p.rank.devices[0].SynchronizeContext(ctx, p.stream(urgentStream)))
	}
	for _, l := range e.lanes {
		d := l / int(distribute.Lanes)
		if err := p.rank.devices[d].SynchronizeContext(ctx, p.lanes[d][l%int(distribute.Lanes)]); err != nil {
			return p.at(d, err)
		}
	}
	return nil
}

// until moves the virtual clock of the rank forward.
func (p *Plan) until(t time.Duration) {
	w := p.rank.devices[0].(waiter)
	if p.rank.devices[0].Now() < t {
		w.WaitUntil(t)
	}
}

// Result is how a run has ended.
type Result struct {
	Steps  int // that were run
	Ending Ending
}

// Ending is why a run has ended.
type Ending uint8

const (
	Exhausted  Ending = iota // the largest number of steps was run
	Met                      // the condition holds
	NotANumber               // the scalar is NaN
)

// RunUntil runs steps until a condition holds, and at most a number of steps. It evaluates the condition after every given
// number of steps and at the end. It is collective. A scalar that all devices hold needs no message.
func (p *Plan) RunUntil(ctx context.Context, c ir.Condition, every, most int) (Result, error) {
	if err := p.usable(); err != nil {
		return Result{}, err
	}
	call := fmt.Sprintf("RunUntil of at most %d steps with a check every %d steps of %s %v %v", most, every, p.text(c.Scalar), c.Is, c.Value)
	if err := p.agree(ctx, call); err != nil {
		return Result{}, err
	}
	if err := c.Check(p.plan.Graph); err != nil {
		return Result{}, fmt.Errorf("the condition cannot be evaluated: %w", err)
	}
	if every < 1 || most < 0 {
		return Result{}, fmt.Errorf("a check every %d steps and at most %d steps: the first must be at least 1, the second not negative", every, most)
	}
	test := until.Test{Elem: p.plan.Graph.Buffers[c.Scalar.Buffer].Elem, Is: c.Is, Value: c.Value}
	var r Result
	for r.Steps < most {
		n := min(every, most-r.Steps)
		if err := p.failure(p.run(ctx, n)); err != nil {
			return r, err
		}
		r.Steps += n
		scalar := make([]byte, c.Scalar.Hi-c.Scalar.Lo)
		if err := p.read(ctx, scalar, c.Scalar); err != nil {
			return r, err
		}
		switch test.Look(scalar) {
		case until.Met:
			r.Ending = Met
			return r, nil
		case until.NotANumber:
			r.Ending = NotANumber
			return r, nil
		}
	}
	return r, nil
}
