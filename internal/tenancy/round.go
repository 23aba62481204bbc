package tenancy

import (
	"context"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
)

// round is a set of requests that run together.
type round struct {
	cohort     *cohort
	requests   []*Request
	members    []*Tenant
	super      *super // nil for a request that runs alone
	stream     device.Stream
	begin, end device.Event
	launched   time.Duration
	call       *device.HostCall // reports the end, on a device in real time
}

func (r *round) has(t *Tenant) bool { return slices.Contains(r.members, t) }

// Launch launches the rounds that are due, and returns the time at which the next one may be due if nothing arrives or
// ends before.
func (s *Server) Launch() (next time.Duration, err error) {
	next = never
	if s.failed != nil {
		return never, s.failed
	}
	for _, c := range s.cohorts {
		for {
			at, launched, err := s.launchOf(c)
			if err != nil {
				return never, err
			}
			if !launched {
				next = min(next, at)
				break
			}
		}
	}
	return next, nil
}

// launchOf launches one round of a cohort if one is due.
func (s *Server) launchOf(c *cohort) (at time.Duration, launched bool, err error) {
	if c.waiting.len() == 0 {
		c.ended = 0
		return never, false, nil // without a call into the device
	}
	now := s.Now()
	s.refuse(c, now)
	if launched, err = s.launchAlone(c, now); launched || err != nil {
		return 0, launched, err
	}
	if c.flying > 0 || c.template.reason != "" {
		return never, false, nil
	}
	c.turns(now)
	l := c.line(s.options.MaxMembers)
	n, at := decide(&l, now)
	if n == 0 {
		return at, false, nil
	}
	c.over.launch(c.times.predict(n), l.waiting-n, c.arrivals)
	r := s.newRound(c, now)
	r.requests = c.waiting.take(r.requests, n, c.joins)
	c.waiting.miss()
	if len(r.requests) == 0 { // only stragglers wait, whose last runs are in flight
		s.free = append(s.free, r)
		return never, false, nil
	}
	return 0, true, s.start(r)
}

// joins reports whether a request can be in a round with the others: not if its tenant runs alone, or if the search for a
// straggler compares two of them.
func (c *cohort) joins(r *Request, others []*Request) bool {
	return !r.Tenant.Alone() && !slices.ContainsFunc(others, func(o *Request) bool { return c.search.separate(o.Tenant, r.Tenant) })
}

// refuse ends the requests that cannot end in time even if they run alone now.
func (s *Server) refuse(c *cohort, now time.Duration) {
	needed := c.times.predict(1)
	for r := c.waiting.first(); r != nil && r.Deadline != Never && now+needed > r.Deadline; r = c.waiting.first() {
		c.waiting.remove(func(o *Request) bool { return o == r })
		s.stats.Late++
		s.finish(r, now, &DeadlineError{r.Tenant.Name, needed, r.Deadline - now})
	}
}

// launchAlone launches a request of a tenant that runs alone: a straggler, or any tenant of a program that has no
// super-graphs. Each has a stream of its own.
func (s *Server) launchAlone(c *cohort, now time.Duration) (bool, error) {
	alone := func(r *Request) bool {
		return (c.template.reason != "" || r.Tenant.Alone()) && !slices.ContainsFunc(s.rounds, func(o *round) bool { return o.has(r.Tenant) })
	}
	if !slices.ContainsFunc(c.waiting.list, alone) {
		return false, nil
	}
	r := s.newRound(c, now)
	r.requests = c.waiting.take(r.requests, 1, func(q *Request, _ []*Request) bool { return alone(q) })
	return true, s.startAlone(r)
}

// newRound returns an empty round; its memory may be that of an earlier one.
func (s *Server) newRound(c *cohort, now time.Duration) *round {
	var r *round
	if n := len(s.free); n > 0 {
		r, s.free = s.free[n-1], s.free[:n-1]
	} else {
		r = &round{}
	}
	r.cohort, r.super, r.launched = c, nil, now
	r.requests, r.members = r.requests[:0], r.members[:0]
	return r
}

// begin marks the begin of a round, in real time.
func (s *Server) begin(r *round, stream device.Stream) error {
	if s.virtual != nil {
		return nil
	}
	return s.dev.Record(r.begin, stream)
}

// mark creates the events of a round that has none yet.
func (s *Server) mark(r *round) (err error) {
	if r.end != 0 {
		return nil
	}
	r.call = &device.HostCall{Label: "end of a round", Func: func() error {
		select {
		case s.ended <- struct{}{}:
		default: // a report is waiting already
		}
		return nil
	}}
	if r.begin, err = s.dev.CreateEvent(); err != nil {
		return err
	}
	r.end, err = s.dev.CreateEvent()
	return err
}

// start launches a round with a super-graph:
//
//	record, slots, super-graph, record
func (s *Server) start(r *round) error {
	c, dev := r.cohort, s.dev
	if s.before(r); len(r.members) == 0 {
		return s.fail(r, nil)
	}
	g, err := s.super(c, c.sizeOf(len(r.members), s.options.MaxMembers), r.members[0])
	if err != nil {
		return s.fail(r, err)
	}
	r.launched = s.Now() // without the time to build the graph
	if err := s.onRound(r); err != nil {
		return s.fail(r, err)
	}
	r.super = g
	c.flying++
	s.rounds = append(s.rounds, r)
	s.stats.Rounds++
	s.stats.Members += len(r.members)
	s.breaks(s.mark(r))
	s.breaks(s.begin(r, c.stream))
	slots, err := g.prepare(dev, c.template, r.members)
	s.breaks(err)
	if slots != nil {
		s.breaks(dev.Submit(c.stream, slots))
	}
	s.breaks(dev.LaunchGraph(g.exec, c.stream))
	s.breaks(s.signal(r, c.stream))
	return s.failed
}

// onRound calls the function of the options.
func (s *Server) onRound(r *round) error {
	if s.options.OnRound == nil {
		return nil
	}
	return s.options.OnRound(len(r.members))
}

// breaks notes an error of the device, after which nothing can run.
func (s *Server) breaks(err error) {
	if s.failed == nil {
		s.failed = err
	}
}

// startAlone launches the program of one tenant as it was recorded.
func (s *Server) startAlone(r *round) (err error) {
	t := r.requests[0].Tenant
	if t.plain == nil {
		if t.plain, err = Instantiate(s.dev, t.graph, t.bound); err != nil {
			return s.fail(r, err)
		}
	}
	if s.before(r); len(r.members) == 0 {
		return s.fail(r, nil)
	}
	if err := s.onRound(r); err != nil {
		return s.fail(r, err)
	}
	s.rounds = append(s.rounds, r)
	s.stats.Alone++
	stream := t.plain.Stream()
	s.breaks(s.mark(r))
	s.breaks(s.begin(r, stream))
	s.breaks(t.plain.Replay(context.Background()))
	s.breaks(s.signal(r, stream))
	return s.failed
}

// signal marks the end of a round. On a device in real time, a host call reports it as well.
func (s *Server) signal(r *round, stream device.Stream) error {
	r.stream = stream
	if err := s.dev.Record(r.end, stream); err != nil || s.virtual != nil {
		return err
	}
	return s.dev.Submit(stream, r.call)
}

// before calls the functions of requests that write their inputs. A request whose function fails leaves the round.
func (s *Server) before(r *round) {
	r.requests = slices.DeleteFunc(r.requests, func(q *Request) bool {
		err := call(q.Before, q.Tenant.trace)
		if err != nil {
			s.finish(q, s.Now(), &FaultError{q.Tenant.Name, err})
		}
		return err != nil
	})
	for _, q := range r.requests {
		r.members = append(r.members, q.Tenant)
	}
}

// fail ends the requests of a round that was not launched.
func (s *Server) fail(r *round, err error) error {
	for _, q := range r.requests {
		s.finish(q, s.Now(), err)
	}
	s.free = append(s.free, r)
	return nil
}
