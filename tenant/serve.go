package tenant

import (
	"context"
	"time"

	"github.com/reprise-gpu/reprise/internal/tenancy"
)

// serve is the goroutine of a pool. In each turn it launches the rounds that are due, and then waits for the first of: a
// request, the end of a round, and the time at which the next round is due.
func (p *Pool) serve(s *tenancy.Server) {
	defer close(p.closed)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		next, err := s.Launch()
		if err != nil {
			s.Harvest() // recovers, or ends all requests with the error
		}
		if s.Busy() && s.Ended() == nil {
			timer.Reset(settle)
			switch p.turn(s, timer.C) {
			case quit:
				p.err = s.Close()
				return
			case timeout:
				_ = s.Await(context.Background(), next) // Launch returns the error again
			}
			continue
		}
		var due <-chan time.Time
		var before, left time.Duration
		if s.Busy() {
			before = s.Now()
			left = min(tenancy.PollEvery, next-before)
			timer.Reset(left)
			due = timer.C
		}
		switch p.turn(s, due) {
		case quit:
			p.err = s.Close()
			return
		case timeout:
			s.Slept(before, left)
		}
		s.Harvest()
	}
}

// settle is how long a pool on a simulated device lets callers submit before virtual time passes. Otherwise callers that
// wake at the end of a round would find the next round on its way without them.
const settle = 50 * time.Microsecond

// event is what ended a turn.
type event uint8

const (
	called  event = iota // by a caller, or by the end of a round
	timeout              // the timer
	quit                 // Close
)

// turn waits for one event and handles calls.
func (p *Pool) turn(s *tenancy.Server, due <-chan time.Time) event {
	select {
	case c := <-p.requests:
		c.request.Arrived = s.Now()
		c.request.Deadline = deadline(c.request.Arrived, c.allowed)
		s.Enqueue(&c.request)
	case f := <-p.commands:
		f(s)
	case <-s.Ended():
	case <-due:
		return timeout
	case <-p.quit:
		return quit
	}
	return called
}

// deadline returns the deadline of a request that arrives now and is allowed a time; 0 means that it has none.
func deadline(now, allowed time.Duration) time.Duration {
	switch at := now + allowed; {
	case allowed == 0 || allowed > 0 && at < now: // later than the clock can show
		return tenancy.Never
	case at == 0: // which would mean none
		return -1
	default:
		return at
	}
}
