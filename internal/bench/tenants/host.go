package tenants

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
)

// never is a time that is not reached.
const never = time.Duration(1<<63 - 1)

// host is the side of the device that submits work and waits, in virtual or in real time.
type host struct {
	dev     device.Device
	stack   Stack
	virtual virtualTime   // nil on a device in real time
	ended   chan struct{} // on such a device: a mark may be reached
	wake    time.Duration // from the end of work to that of a call that waits for it, in virtual time
}

// virtualTime is a device whose clock advances only while the host waits for it.
type virtualTime interface {
	// WaitFirst waits until one of the events has completed, at most to a time.
	WaitFirst(until time.Duration, events ...device.Event) error
	// Completed returns the time at which the last record of an event completed, if it has. It costs no time.
	Completed(device.Event) (at time.Duration, ok bool)
}

func newHost(dev device.Device, s Stack) *host {
	h := &host{dev: dev, stack: s, ended: make(chan struct{}, 1)}
	if dev.Info().Simulated {
		h.virtual, _ = dev.(virtualTime)
	}
	if p := model.Of(dev); p != nil {
		h.wake = duration(p.Host.Synchronize)
	}
	return h
}

// sleep waits for d.
func (h *host) sleep(d time.Duration) error { return h.sleepTo(h.dev.Now() + d) }

// sleepTo waits until a time on the device's clock.
func (h *host) sleepTo(t time.Duration) error {
	now := h.dev.Now()
	switch {
	case t <= now:
		return nil
	case h.virtual != nil:
		return h.virtual.WaitFirst(t)
	}
	time.Sleep(t - now)
	return nil
}

// mark is a place in a stream: it is reached when the work before it has ended.
type mark struct {
	event device.Event     // in virtual time
	call  *device.HostCall // in real time: sets over
	over  atomic.Bool
	at    atomic.Int64 // time at which over was set
}

func (h *host) newMark() (m *mark, err error) {
	m = &mark{}
	if h.virtual != nil {
		m.event, err = h.dev.CreateEvent()
		return m, err
	}
	m.call = &device.HostCall{Label: "end of a request", Func: func() error {
		m.at.Store(int64(h.dev.Now()))
		m.over.Store(true)
		select {
		case h.ended <- struct{}{}:
		default: // a report is waiting already
		}
		return nil
	}}
	return m, nil
}

// set moves the mark to the present end of a stream.
func (h *host) set(m *mark, s device.Stream) error {
	if h.virtual != nil {
		return h.dev.Record(m.event, s)
	}
	m.over.Store(false)
	return h.dev.Submit(s, m.call)
}

// reached returns the time at which a mark was reached, if it was.
func (h *host) reached(m *mark) (at time.Duration, ok bool) {
	if h.virtual != nil {
		return h.virtual.Completed(m.event)
	}
	return time.Duration(m.at.Load()), m.over.Load()
}

func (h *host) drop(m *mark) error {
	if m == nil || m.event == 0 {
		return nil
	}
	return h.dev.DestroyEvent(m.event)
}

// await waits until one of the marks is reached, at most to a time on the device's clock.
func (h *host) await(ctx context.Context, until time.Duration, marks ...*mark) error {
	if h.virtual != nil {
		events := make([]device.Event, len(marks))
		for i, m := range marks {
			events[i] = m.event
		}
		if err := h.virtual.WaitFirst(until, events...); err != nil {
			return err
		}
		return ctx.Err()
	}
	var due <-chan time.Time
	if until != never {
		timer := time.NewTimer(until - h.dev.Now())
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-h.ended:
	case <-due:
	case <-ctx.Done():
	}
	return ctx.Err()
}
