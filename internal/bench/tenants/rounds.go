package tenants

import (
	"context"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
)

// rounds is a service that runs requests in rounds, one round after another. A round serves the requests that wait, up to
// a limit.
type rounds struct {
	*host
	base    time.Duration
	limit   int
	apart   bool // at most one request of a tenant is in a round
	stream  device.Stream
	mark    *mark
	waiting []*request
	running []*request
	// run enqueues the work of a round into the stream.
	run  func(members []*request) error
	free func() error
}

func (s *rounds) enqueue(r *request) { s.waiting = append(s.waiting, r) }

func (s *rounds) busy() bool { return len(s.waiting)+len(s.running) > 0 }

func (s *rounds) launch() (time.Duration, error) {
	if len(s.running) > 0 || len(s.waiting) == 0 {
		return never, nil
	}
	if err := s.sleep(s.base); err != nil {
		return never, err
	}
	s.take()
	if err := s.run(s.running); err != nil {
		return never, err
	}
	return never, s.set(s.mark, s.stream)
}

// take moves the members of the next round from waiting to running.
func (s *rounds) take() {
	s.waiting = slices.DeleteFunc(s.waiting, func(r *request) bool {
		taken := len(s.running) == s.limit || s.apart && slices.ContainsFunc(s.running, func(o *request) bool { return o.tenant == r.tenant })
		if !taken {
			s.running = append(s.running, r)
		}
		return !taken
	})
}

func (s *rounds) await(ctx context.Context, until time.Duration) error {
	if len(s.running) == 0 {
		return s.host.await(ctx, until)
	}
	if err := s.host.await(ctx, until, s.mark); err != nil {
		return err
	}
	if _, ok := s.reached(s.mark); !ok {
		return nil
	}
	now, ended := s.dev.Now(), s.running
	s.running = nil
	for _, r := range ended {
		r.end(now)
	}
	return nil
}

func (s *rounds) close() error {
	err := s.drop(s.mark)
	if s.free != nil {
		err = device.Join(err, s.free())
	}
	return err
}
