package tenants

import (
	"context"
	"time"

	"github.com/reprise-gpu/reprise/device"
)

// request is one run of a tenant's program.
type request struct {
	tenant   int
	arrived  time.Duration // on the device's clock
	deadline time.Duration // latest end; never if there is none
	ended    time.Duration
	refused  bool // it did not run, because it could not have ended in time
	done     func(*request)
}

// end reports the end of a request.
func (r *request) end(at time.Duration) {
	r.ended = at
	if r.done != nil {
		r.done(r)
	}
}

// service runs requests in one mode. Its methods are called by one goroutine.
type service interface {
	enqueue(r *request)
	// launch starts the work that can start. It returns the time at which more may be due if nothing arrives or ends
	// before.
	launch() (next time.Duration, err error)
	// await waits until a request may have ended, at most to a time, and ends those that have.
	await(ctx context.Context, until time.Duration) error
	// busy reports whether requests wait or run.
	busy() bool
	close() error
}

// arrival is a request to come.
type arrival struct {
	tenant int
	at     time.Duration // after the start
}

// serve feeds a service with requests, which are sorted by time, until all have ended, those that done adds included.
func serve(ctx context.Context, dev device.Device, s service, list []arrival, slo time.Duration, done func(*request)) error {
	start := dev.Now()
	for i := 0; i < len(list) || s.busy(); {
		now := dev.Now()
		for ; i < len(list) && start+list[i].at <= now; i++ {
			s.enqueue(newRequest(list[i].tenant, start+list[i].at, slo, done))
		}
		next, err := s.launch()
		if err != nil {
			return err
		}
		if i < len(list) {
			next = min(next, start+list[i].at)
		}
		if !s.busy() && next == never {
			continue
		}
		if err := s.await(ctx, next); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func newRequest(tenant int, at, slo time.Duration, done func(*request)) *request {
	r := &request{tenant: tenant, arrived: at, deadline: never, done: done}
	if slo > 0 {
		r.deadline = at + slo
	}
	return r
}
