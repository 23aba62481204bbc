package tenants

import (
	"context"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
)

// space is a stream per tenant. One host thread submits the launches of all tenants in turn, one of each. A thread per
// tenant waits for its results, so a request ends at the end of its work, even if launches are submitted by then.
type space struct {
	*host
	lanes      []*lane
	dispatched time.Duration // of the latest kernel
	idle       bool          // nothing runs
}

// lane is the stream of a tenant and its requests.
type lane struct {
	work    *work
	stream  device.Stream
	mark    *mark
	waiting []*request
	running *request
	next    int // operation to submit
}

func newSpace(h *host, works []*work) (_ service, err error) {
	s := &space{host: h, idle: true, dispatched: -h.stack.Kernel}
	for _, w := range works {
		l := &lane{work: w}
		s.lanes = append(s.lanes, l)
		if l.stream, err = h.dev.CreateStream(0); err != nil {
			return nil, device.Join(err, s.close())
		}
		if l.mark, err = h.newMark(); err != nil {
			return nil, device.Join(err, s.close())
		}
	}
	return s, nil
}

func (s *space) enqueue(r *request) {
	l := s.lanes[r.tenant]
	l.waiting = append(l.waiting, r)
}

func (s *space) busy() bool {
	return slices.ContainsFunc(s.lanes, func(l *lane) bool { return l.running != nil || len(l.waiting) > 0 })
}

// launch submits everything that waits.
func (s *space) launch() (time.Duration, error) {
	begun := false
	for _, l := range s.lanes {
		if l.running == nil && len(l.waiting) > 0 {
			l.running, l.waiting, l.next = l.waiting[0], l.waiting[1:], 0
			begun = true
		}
	}
	if begun && s.idle {
		if err := s.sleep(s.stack.Base[Space]); err != nil {
			return never, err
		}
	}
	s.idle = s.idle && !begun
	for more := begun; more; {
		more = false
		for _, l := range s.lanes {
			if l.running == nil || l.next > len(l.work.ops) {
				continue
			}
			if err := s.step(l); err != nil {
				return never, err
			}
			more = true
		}
	}
	return never, nil
}

// step submits the next operation of a lane, or the mark at its end.
func (s *space) step(l *lane) error {
	i := l.next
	l.next++
	if i == len(l.work.ops) {
		return s.set(l.mark, l.stream)
	}
	op := l.work.ops[i]
	if isKernel(op) && s.stack.Kernel > 0 {
		if err := s.sleepTo(s.dispatched + s.stack.Kernel); err != nil {
			return err
		}
		s.dispatched = s.dev.Now()
	}
	return s.dev.Submit(l.stream, op)
}

func (s *space) await(ctx context.Context, until time.Duration) error {
	var marks []*mark
	for _, l := range s.lanes {
		if l.running != nil {
			marks = append(marks, l.mark)
		}
	}
	if err := s.host.await(ctx, until, marks...); err != nil {
		return err
	}
	running := false
	var ended []*request
	for _, l := range s.lanes {
		if l.running == nil {
			continue
		}
		at, ok := s.reached(l.mark)
		if !ok {
			running = true
			continue
		}
		l.running.ended = at + s.wake
		ended, l.running = append(ended, l.running), nil
	}
	s.idle = !running
	for _, r := range ended {
		r.end(r.ended)
	}
	return nil
}

func (s *space) close() error {
	var errs []error
	for _, l := range s.lanes {
		errs = append(errs, s.drop(l.mark), destroyStream(s.dev, l.stream))
	}
	return device.Join(errs...)
}
