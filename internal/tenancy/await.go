package tenancy

import (
	"context"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
)

// Await waits until a round has ended, at most to a time on the device's clock, and ends the requests of all rounds that
// have ended. It returns at once if no round is in flight and until is Never. The error is that of ctx, or one of the
// device, after which nothing can run; all requests have then ended with it.
func (s *Server) Await(ctx context.Context, until time.Duration) error {
	if len(s.rounds) == 0 && until == Never {
		return ctx.Err()
	}
	if s.virtual != nil {
		s.wait = s.wait[:0]
		for _, r := range s.rounds {
			s.wait = append(s.wait, r.end)
		}
		if until != Never {
			until -= s.epoch
		}
		s.breaks(s.virtual.WaitFirst(until, s.wait...))
	} else if err := s.sleep(ctx, until); err != nil {
		return err
	}
	s.Harvest()
	return s.failed
}

// PollEvery is the time after which the caller of Harvest calls it again while rounds are in flight, on a device in real
// time. Host calls report the end of rounds sooner, but not after a fault, which stops all work.
const PollEvery = time.Millisecond

// sleep waits in real time.
func (s *Server) sleep(ctx context.Context, until time.Duration) error {
	if len(s.rounds) == 1 && until == Never { // nothing else can happen
		err := s.dev.SynchronizeContext(ctx, s.rounds[0].stream)
		if err != nil && ctx.Err() == nil {
			s.breaks(err)
			return nil
		}
		return err
	}
	left := PollEvery
	if until != Never {
		left = min(left, until-s.Now())
	}
	if s.timer == nil {
		s.timer = time.NewTimer(left)
	} else {
		s.timer.Reset(left)
	}
	defer s.timer.Stop()
	before := s.Now()
	select {
	case <-s.ended:
	case <-s.timer.C:
		s.Slept(before, left)
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Slept reports that the caller has slept for a time, since the clock of a device in real time showed before. The clock of
// a simulated driver stands while nothing calls it; the server then adds the time.
func (s *Server) Slept(before, slept time.Duration) {
	if s.Now()-before < slept/2 {
		s.epoch += slept
	}
}

// Ended returns a channel that receives when a round may have ended, on a device in real time. On a device in virtual
// time it returns nil: only Await lets time pass.
func (s *Server) Ended() <-chan struct{} {
	if s.virtual != nil {
		return nil
	}
	return s.ended
}

// Harvest ends the requests of all rounds that have ended. If the device has failed and there is no other, it ends all
// requests.
func (s *Server) Harvest() {
	for i := 0; i < len(s.rounds) && s.failed == nil; i++ {
		r := s.rounds[i]
		took, err := s.took(r)
		if err != nil && device.CodeOf(err) == device.NotReady {
			continue
		}
		if err != nil {
			s.breaks(err)
			break
		}
		s.rounds = slices.Delete(s.rounds, i, i+1)
		i--
		s.conclude(r, took)
	}
	if s.failed != nil && !s.recover() {
		s.failAll()
	}
}

// took returns the time of a round, or an error with the code NotReady if it has not ended. In virtual time, the host's
// clock is exact, and no call is needed.
func (s *Server) took(r *round) (time.Duration, error) {
	if s.virtual == nil {
		return s.dev.Elapsed(r.begin, r.end)
	}
	at, ended := s.virtual.Completed(r.end)
	if err := s.virtual.Err(); err != nil {
		return 0, err
	}
	if !ended {
		return 0, errNotReady
	}
	return s.epoch + at - r.launched, nil
}

var errNotReady = &device.Error{Code: device.NotReady, Detail: "the round runs"}

// conclude ends the requests of a round, learns from its time, and makes its memory free for another round.
func (s *Server) conclude(r *round, took time.Duration) {
	now := s.Now()
	s.learn(r, took)
	for _, q := range r.requests {
		q.Launched, q.Members = r.launched, len(r.members)
		err := call(q.After, q.Tenant.trace)
		if err != nil {
			err = &FaultError{q.Tenant.Name, err}
		}
		s.finish(q, now, err)
	}
	clear(r.requests)
	s.free = append(s.free, r)
}

// learn updates the predicted times of a cohort and the search for a straggler.
func (s *Server) learn(r *round, took time.Duration) {
	c := r.cohort
	if r.super == nil {
		s.ranAlone(r.members[0])
		return
	}
	c.flying--
	c.ended = r.launched + took
	n := len(r.members)
	slow := c.times.exceeds(n, took, slowFactor)
	if c.slow++; !slow {
		c.slow = 0
	}
	if !slow || c.slow > maxSlow {
		c.times.observe(n, took)
	}
	switch t, ended := c.search.observe(c.members, r.members, slow); {
	case t != nil:
		t.spell = max(aloneRounds, 2*t.spell)
		t.alone = t.spell
		s.stats.Stragglers++
	case ended: // no member is the cause
		c.slow = maxSlow
	}
}

// maxSlow is the number of slow rounds in a row after which their times are the new normal ones. The times are so at once
// if a search shows that no member is the cause.
const maxSlow = 16

// ranAlone counts a run of a straggler.
func (s *Server) ranAlone(t *Tenant) {
	if t.alone > 0 {
		t.alone--
	}
}

// failAll ends all waiting requests with the error of the device.
func (s *Server) failAll() {
	for _, c := range s.cohorts {
		for _, r := range c.waiting.remove(func(*Request) bool { return true }) {
			s.finish(r, s.Now(), s.failed)
		}
	}
}
