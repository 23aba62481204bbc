package share

import (
	"context"
	"runtime"
	"time"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

// serve reports the ends of grants, and submits what the policy then grants.
func (s *Scheduler) serve() {
	defer close(s.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return
		}
		wait := s.turn()
		s.mu.Unlock()
		switch {
		case wait == 0:
			runtime.Gosched()
		case wait == sharing.Never:
			<-s.kick
		default:
			timer.Reset(wait)
			select {
			case <-s.kick:
			case <-timer.C:
				s.pass(wait)
			}
		}
	}
}

// turn reports what has ended, submits what is granted, and returns how long nothing is to do.
func (s *Scheduler) turn() time.Duration {
	if s.host.Idle() {
		return sharing.Never // the device may be in use by others
	}
	s.host.Harvest()
	next, err := s.host.Launch()
	switch {
	case err != nil:
		return sharing.Never // all stages have ended with the error
	case s.host.Virtual():
		if s.host.Busy() || next != sharing.Never {
			return settle
		}
		return sharing.Never
	}
	return untilPoll(min(next, s.host.Due()), s.host.Now())
}

// settle is how long callers may submit before virtual time passes. Otherwise callers that wake at the end of a stage
// would find the device busy with the work of others.
const settle = 50 * time.Microsecond

// Sleeping takes some 60 us longer than it should on Linux. The last part of a wait is therefore spent polling.
const early = 100 * time.Microsecond

// untilPoll returns how long to sleep before the next poll; 0 means to poll again at once.
func untilPoll(at, now time.Duration) time.Duration {
	switch {
	case at == sharing.Never:
		return sharing.Never
	case at-now <= early:
		return 0
	}
	return at - now - early
}

// pass lets virtual time pass after a settled wait.
func (s *Scheduler) pass(waited time.Duration) {
	if !s.host.Virtual() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	next, err := s.host.Launch()
	if err == nil {
		_ = s.host.Await(context.Background(), next) // the stages have the error
	}
}
