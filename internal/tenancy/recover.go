package tenancy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/tracer"
)

// A kernel that fails makes the device unusable, and its memory is lost. The round does not tell which member failed. So
// the members run again, one by one, on a device that takes its place:
//
//	round of a b c fails ─► open ─► a ends ─► b fails ─► open ─► c ends ─► record all others
//
// Requests that wait stay in their queues.

// recover replaces a device that has failed. It returns false if there is no other device. All requests of the rounds in
// flight have then ended with the error.
func (s *Server) recover() bool {
	requests, joint := s.abandon()
	at := s.Now()
	if s.options.Reopen == nil {
		s.endAll(requests, s.failed)
		return false
	}
	dev, err := s.reopen(s.failed)
	guilty := 0
	for _, r := range requests {
		if dev == nil {
			s.endAll([]*Request{r}, err)
			continue
		}
		result := ErrLost
		if r.Tenant.program != nil {
			if result = runAlone(dev, r); result != nil {
				result = &FaultError{r.Tenant.Name, result}
			}
		}
		if result != nil && unusable(dev) {
			guilty++
			r.Tenant.fault, r.Tenant.gone = result, true
			_ = dev.Close() // returns the fault
			dev, err = s.reopen(result)
		}
		s.finish(r, at, result)
	}
	if dev == nil {
		s.failed = err
		return false
	}
	if guilty > 0 {
		joint = nil
	}
	s.takeOver(dev, at, joint)
	return true
}

// abandon removes all rounds, whose work will never end. It returns their requests, and the cohorts with a round of several.
func (s *Server) abandon() (requests []*Request, joint []*cohort) {
	for _, r := range s.rounds {
		requests = append(requests, r.requests...)
		if len(r.requests) > 1 {
			joint = append(joint, r.cohort)
		}
	}
	s.rounds, s.free, s.cached = nil, nil, 0
	return requests, joint
}

// reopen opens a device. fault is why; it is part of the error.
func (s *Server) reopen(fault error) (device.Device, error) {
	s.stats.Faults++
	dev, err := s.options.Reopen()
	if err != nil {
		return nil, fmt.Errorf("%w; no other device could be opened: %w", fault, err)
	}
	return dev, nil
}

// unusable reports whether a device refuses all work.
func unusable(dev device.Device) bool { return dev.SynchronizeAll() != nil }

// runAlone records the program of a request on a device and runs it there once.
func runAlone(dev device.Device, r *Request) (err error) {
	trace, err := r.Tenant.program(dev)
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, trace.Close()) }()
	exec, err := Instantiate(dev, trace.Graph, traced.BindingsOf(trace))
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, exec.Close()) }()
	steps := []func() error{
		func() error { return call(r.Before, trace) },
		func() error { return exec.Replay(context.Background()) },
		func() error { return exec.Wait(context.Background()) },
		func() error { return call(r.After, trace) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func call(f func(*tracer.Trace) error, trace *tracer.Trace) error {
	if f == nil {
		return nil
	}
	return f(trace)
}

// takeOver makes dev the device of the server, and records the programs of all tenants there. Cohorts whose members failed
// together but succeed alone get no super-graphs any more.
func (s *Server) takeOver(dev device.Device, now time.Duration, together []*cohort) {
	cohorts := s.cohorts
	if s.owned {
		_ = s.dev.Close() // returns the fault
	}
	s.adopt(dev)
	s.owned, s.epoch, s.failed, s.cohorts = true, now-dev.Now(), nil, nil
	for _, was := range cohorts {
		for _, t := range was.members {
			t.plain, t.row = nil, 0
			if t.gone { // its trace was on the device that failed
				t.program = nil
				continue
			}
			if err := s.again(t); err != nil {
				t.gone, t.fault = true, err
				continue
			}
			if c := t.cohort; slices.Contains(together, was) && c.template.reason == "" {
				c.template.reason = "a round of several tenants failed, and each of them alone did not"
			}
		}
		for _, r := range was.waiting.remove(func(*Request) bool { return true }) {
			if r.Tenant.gone {
				s.finish(r, now, r.Tenant.fault)
			} else { // cohorts have other numbers now
				r.Tenant.cohort.waiting.push(r)
			}
		}
	}
}

// again records the program of a tenant on the present device.
func (s *Server) again(t *Tenant) error {
	if t.program == nil {
		return ErrLost
	}
	trace, err := t.program(s.dev)
	if err != nil {
		return err
	}
	return s.admit(t, trace)
}

// endAll ends requests with an error.
func (s *Server) endAll(list []*Request, err error) {
	for _, r := range list {
		s.finish(r, s.Now(), err)
	}
}
