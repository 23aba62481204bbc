package tenants

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/tenancy"
)

// spaceTime serves requests with package tenancy.
type spaceTime struct {
	server  *tenancy.Server
	tenants []*tenancy.Tenant
	err     error // of a request
}

func newSpaceTime(h *host, all []*Instance) (_ service, err error) {
	s := &spaceTime{}
	base, each := h.stack.Base[SpaceTime], h.stack.Instance
	s.server = tenancy.NewServer(h.dev, tenancy.Options{
		MaxMembers: len(all),
		OnRound:    func(members int) error { return h.sleep(base + time.Duration(members)*each) },
	})
	for i, in := range all {
		t, err := s.server.AddGraph(fmt.Sprint("tenant ", i), in.Graph, in.Bound)
		if err != nil {
			return nil, device.Join(err, s.close())
		}
		s.tenants = append(s.tenants, t)
	}
	return s, nil
}

func (s *spaceTime) enqueue(r *request) {
	s.server.Enqueue(&tenancy.Request{
		Tenant: s.tenants[r.tenant], Arrived: r.arrived, Deadline: r.deadline,
		Done: func(q *tenancy.Request) {
			var late *tenancy.DeadlineError
			switch r.refused = errors.As(q.Err, &late); {
			case q.Err != nil && !r.refused && s.err == nil:
				s.err = q.Err
			}
			r.end(q.Ended)
		},
	})
}

func (s *spaceTime) launch() (time.Duration, error) {
	next, err := s.server.Launch()
	return next, device.Join(err, s.err)
}

func (s *spaceTime) await(ctx context.Context, until time.Duration) error {
	if err := s.server.Await(ctx, until); err != nil {
		return err
	}
	return device.Join(ctx.Err(), s.err)
}

func (s *spaceTime) busy() bool   { return s.server.Busy() }
func (s *spaceTime) close() error { return s.server.Close() }
