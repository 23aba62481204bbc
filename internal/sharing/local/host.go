package local

import (
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/sharing"
)

// Work is a stage of a program: units, which it can submit.
type Work interface {
	Units() []sharing.Unit
	// Submit submits n units from the first on. They begin when the work before them on the stream has ended.
	Submit(s device.Stream, first, n int) error
}

// Host runs programs on one device. It is used by one goroutine at a time.
type Host struct {
	dev      device.Device
	core     *sharing.Core
	form     sharing.Form
	virtual  virtualTime // nil on a device in real time
	programs []*Program
	wake     time.Duration  // from the end of work until the host sees it, in virtual time
	wait     []device.Event // reused
	failed   error
	deciding time.Duration // real time of the host in the policy
	// Watch is called at the end of each grant, with the times at which it was granted and at which its units ended.
	// It may be nil.
	Watch   func(p *Program, from, to time.Duration)
	latest  [latest]time.Duration
	decided int           // decisions
	skipped time.Duration // added to the device's clock
}

// virtualTime is a device whose clock advances only while the host waits for it.
type virtualTime interface {
	// WaitFirst waits until one of the events has completed, at most to a time.
	WaitFirst(until time.Duration, events ...device.Event) error
	// Completed returns the time at which the last record of an event completed, if it has. It costs no time.
	Completed(device.Event) (at time.Duration, ok bool)
}

// NewHost returns a host without programs.
func NewHost(dev device.Device, p sharing.Policy) *Host {
	h := &Host{dev: dev, core: sharing.New(p), form: p.Form()}
	if dev.Info().Simulated {
		h.virtual, _ = dev.(virtualTime)
	}
	if m := model.Of(dev); m != nil && h.virtual != nil {
		h.wake = time.Duration(m.Host.Synchronize / model.Nanosecond)
	}
	return h
}

// latest is the number of decisions whose times are kept.
const latest = 512

// Decisions returns the real time of the host in the policy: the sum, and the median of the latest decisions.
func (h *Host) Decisions() (sum, median time.Duration) {
	times := h.latest
	list := times[:min(h.decided, latest)]
	if len(list) == 0 {
		return 0, 0
	}
	slices.Sort(list)
	return h.deciding, list[len(list)/2]
}

// decide calls the policy.
func (h *Host) decide() (sharing.Grant, time.Duration) {
	now, began := h.Now(), time.Now()
	g, wake := h.core.Next(now)
	took := time.Since(began)
	h.deciding += took
	h.latest[h.decided%latest] = took
	h.decided++
	return g, wake
}

// Virtual reports whether the clock of the host is virtual.
func (h *Host) Virtual() bool { return h.virtual != nil }

// Now returns the time on the clock of the host.
func (h *Host) Now() time.Duration { return h.dev.Now() + h.skipped }

// Skip lets time pass in which the device does nothing, and costs nothing. Nothing may be in flight.
func (h *Host) Skip(d time.Duration) { h.skipped += d }

// Steady returns the time until which the decisions of the policy stay the same if no stage arrives.
func (h *Host) Steady() time.Duration { return h.core.Steady(h.Now()) }

// Program is a program on a host.
type Program struct {
	*sharing.Program
	host    *Host
	stream  device.Stream
	stages  []Work
	marks   []device.Event // a ring: an event for each grant in flight
	first   int            // of the grants in flight
	flying  int
	granted []time.Duration                     // times of the grants in flight, if they are watched
	ended   []func(at time.Duration, err error) // of the stages that wait or run, in order
	err     error                               // of the present stage
}

// Add adds a program. Alone is the time of each stage alone on the device, nil if it is unknown. Classes with a
// priority have a stream with it.
func (h *Host) Add(name string, class int, stages []Work, alone []time.Duration) (*Program, error) {
	p := &Program{host: h, stages: stages}
	var core []sharing.Stage
	for i, w := range stages {
		s := sharing.Stage{Units: w.Units()}
		if i < len(alone) {
			s.Alone = alone[i]
		}
		core = append(core, s)
	}
	var err error
	if p.stream, err = h.dev.CreateStream(h.priority(class)); err != nil {
		return nil, err
	}
	p.Program = h.core.Add(name, class, core)
	p.Data = p
	h.programs = append(h.programs, p)
	return p, nil
}

// priority returns the priority of the stream of a class.
func (h *Host) priority(class int) int {
	if !h.form.Priorities {
		return 0
	}
	i := h.dev.Info()
	return i.GreatestPriority + (i.LeastPriority-i.GreatestPriority)*(sharing.Classes-1-class)/(sharing.Classes-1)
}

// Remove removes a program and frees what Add has created. Its stages end with an error, after its work in flight.
func (h *Host) Remove(p *Program, reason error) error {
	h.Cancel(p, reason)
	h.programs = slices.DeleteFunc(h.programs, func(q *Program) bool { return q == p })
	h.core.Remove(p.Program)
	err := h.dev.Synchronize(p.stream)
	for _, f := range p.ended {
		f(h.Now(), reason)
	}
	p.ended = nil
	for _, e := range p.marks {
		err = device.Join(err, h.dev.DestroyEvent(e))
	}
	return device.Join(err, h.dev.DestroyStream(p.stream))
}

// Close removes all programs.
func (h *Host) Close(reason error) (err error) {
	for len(h.programs) > 0 {
		err = device.Join(err, h.Remove(h.programs[0], reason))
	}
	return err
}

// Arrive submits a stage of a program. When it has ended, ended is called with the time and with the error of a
// submission that failed.
func (h *Host) Arrive(p *Program, stage int, ended func(at time.Duration, err error)) {
	p.ended = append(p.ended, ended)
	h.core.Arrive(p.Program, stage, h.Now())
}

// Cancel forgets the stages of a program that wait, and what is not granted of the present one. The stages end with an
// error: those that wait at once, the present one when its work in flight has ended.
func (h *Host) Cancel(p *Program, err error) {
	if len(p.ended) == 0 {
		return
	}
	keep := 1
	if h.core.Cancel(p.Program, h.Now()) {
		keep = 0
	} else if p.err == nil {
		p.err = err
	}
	for _, f := range p.ended[keep:] {
		f(h.Now(), err)
	}
	p.ended = p.ended[:keep]
}

// Launch submits all units that the policy grants now. It returns the time at which to call it again although nothing
// arrives or ends. An error is one of the device, after which nothing can run.
func (h *Host) Launch() (time.Duration, error) {
	for h.failed == nil {
		if h.empty() {
			continue
		}
		g, wake := h.decide()
		if g.Units == 0 {
			return wake, nil
		}
		h.submit(g.Program.Data.(*Program), g)
	}
	return sharing.Never, h.failed
}

// empty ends a stage without units, and reports whether there was one.
func (h *Host) empty() bool {
	for _, p := range h.programs {
		if h.core.Empty(p.Program, h.Now()) {
			h.conclude(p, h.Now())
			return true
		}
	}
	return false
}

// submit submits the units of a grant and the event behind them. A failed submission cancels the stage.
func (h *Host) submit(p *Program, g sharing.Grant) {
	if h.Watch != nil {
		p.granted = append(p.granted, g.At)
	}
	err := p.stages[g.Stage].Submit(p.stream, g.First, g.Units)
	if err != nil && p.err == nil {
		p.err = err
	}
	if err = h.mark(p); err != nil {
		h.fail(err)
		return
	}
	if p.err != nil {
		h.Cancel(p, p.err)
	}
}

// mark records an event behind the work of a program.
func (h *Host) mark(p *Program) error {
	if p.flying == len(p.marks) {
		e, err := h.dev.CreateEvent()
		if err != nil {
			return err
		}
		p.marks = slices.Insert(p.marks, p.first, e)
		p.first = (p.first + 1) % len(p.marks)
	}
	err := h.dev.Record(p.marks[(p.first+p.flying)%len(p.marks)], p.stream)
	p.flying++
	return err
}

// conclude calls the function of the present stage of a program.
func (h *Host) conclude(p *Program, at time.Duration) {
	f := p.ended[0]
	p.ended = p.ended[:copy(p.ended, p.ended[1:])]
	err := p.err
	p.err = nil
	f(at, err)
}

// fail ends all stages with the error of the device.
func (h *Host) fail(err error) {
	if h.failed != nil {
		return
	}
	h.failed = err
	for _, p := range h.programs {
		all := p.ended
		p.ended, p.flying, p.granted = nil, 0, nil
		for _, f := range all {
			f(h.Now(), err)
		}
	}
}
