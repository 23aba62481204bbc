package shares

import (
	"context"

	"github.com/reprise-gpu/reprise/device"
)

// verify runs the pair under a policy on a device that runs all blocks, and compares the results with those of a run
// alone. Traces have no results; there they run their kernels for the shortest time.
func (m *matched) verify(ctx context.Context, p Policy, r *Record) (err error) {
	if !m.high.Checked() && !m.low.Checked() {
		return nil
	}
	if m.whole == nil {
		if m.whole, err = newRunner(m.Config, false, true); err != nil {
			return err
		}
	}
	s, err := m.whole.open(p, m.high, m.low)
	if err != nil {
		return err
	}
	ok, why, err := m.whole.compare(ctx, s, []*Program{m.high, m.low})
	r.OK, r.Error = &ok, why
	return device.Join(err, s.close())
}

// compare runs a request of both programs, and compares their results.
func (r *runner) compare(ctx context.Context, s *pair, programs []*Program) (ok bool, why string, err error) {
	for i, p := range programs {
		if in := r.instances[p]; in.reset != nil {
			if err := in.reset(); err != nil {
				return false, "", err
			}
		}
		s.clients[i].start(1, 0) // programs that change their inputs are right after one
	}
	for _, c := range s.clients {
		if err := s.run(ctx, c); err != nil {
			return false, "", err
		}
	}
	for _, p := range programs {
		in := r.instances[p]
		if in.check == nil {
			continue
		}
		if err := in.check(); device.CodeOf(err) != 0 {
			return false, "", err
		} else if err != nil {
			return false, p.Name + ": " + err.Error(), nil
		}
	}
	return true, "", nil
}
