package local

import (
	"context"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sharing"
)

// Idle reports whether no stage waits or runs.
func (h *Host) Idle() bool {
	for _, p := range h.programs {
		if len(p.ended) > 0 {
			return false
		}
	}
	return true
}

// Busy reports whether work is in flight.
func (h *Host) Busy() bool {
	for _, p := range h.programs {
		if p.lane.flying > 0 {
			return true
		}
	}
	return false
}

// Due returns the time at which the first grant in flight is predicted to end, or sharing.Never.
func (h *Host) Due() time.Duration {
	due := sharing.Never
	for _, p := range h.programs {
		if p.lane.flying > 0 {
			due = min(due, p.Due())
		}
	}
	return due
}

// Bound returns the bound of the policy for the programs of the host.
func (h *Host) Bound(f *sharing.Fill) (bound, oversize time.Duration) { return f.Bound(h.core) }

// Await lets virtual time pass until a grant has ended, at most to a time, and reports the grants that have ended.
// It is for devices in virtual time.
func (h *Host) Await(ctx context.Context, until time.Duration) error {
	h.wait = h.wait[:0]
	for _, p := range h.programs {
		if p.lane.flying > 0 {
			h.wait = append(h.wait, p.lane.oldest())
		}
	}
	if len(h.wait) == 0 && until == sharing.Never {
		return ctx.Err()
	}
	if until != sharing.Never {
		until -= h.skipped
	}
	err := h.virtual.WaitFirst(until, h.wait...)
	if err == nil && h.anyEnded() {
		err = h.virtual.WaitFirst(h.dev.Now() + h.wake)
	}
	if err != nil {
		h.fail(err)
		return err
	}
	h.Harvest()
	if h.failed != nil {
		return h.failed
	}
	return ctx.Err()
}

func (h *Host) anyEnded() bool {
	for _, e := range h.wait {
		if _, ok := h.virtual.Completed(e); ok {
			return true
		}
	}
	return false
}

// Harvest reports the grants that have ended to the core, and calls the functions of stages that have ended.
func (h *Host) Harvest() {
	for _, p := range h.programs {
		for p.lane.flying > 0 && h.failed == nil {
			at, err := h.reached(p.lane.oldest())
			if err != nil {
				if device.CodeOf(err) != device.NotReady {
					h.fail(err)
				}
				break
			}
			p.lane.drop()
			if len(p.granted) > 0 {
				h.Watch(p, p.granted[0], at)
				p.granted = p.granted[:copy(p.granted, p.granted[1:])]
			}
			if h.completed(p, at) {
				h.conclude(p, at)
			}
		}
	}
}

// completed reports the end of a grant to the core, and how much of it has run if it could be stopped.
func (h *Host) completed(p *Program, at time.Duration) (ended bool) {
	if p.running == nil {
		return h.core.Completed(p.Program, at)
	}
	ran := p.running.Ran() - p.from
	p.running = nil
	return h.core.Stopped(p.Program, ran, at)
}

// reached returns the time at which an event has completed, or an error with the code NotReady.
func (h *Host) reached(e device.Event) (time.Duration, error) {
	if h.virtual == nil {
		_, err := h.dev.Elapsed(e, e)
		return h.Now(), err
	}
	at, ok := h.virtual.Completed(e)
	if !ok {
		return 0, errNotReady
	}
	return at + h.skipped, nil
}

var errNotReady = &device.Error{Code: device.NotReady, Detail: "the work runs"}
