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

// Stopper is Work that the device runs by itself until it is stopped. The Work of a Stage is one if the form of the policy has
// Stops.
type Stopper interface {
	Work
	// Run is Submit for work that Stop can end.
	Run(s device.Stream, first, n int) error
	// Stop ends the work of Run after the present unit. It returns at once.
	Stop() error
	// Ran returns the unit behind the last one that has run. The work of Run has ended.
	Ran() int
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

// virtualOf returns a device in virtual time, nil for one in real time.
func virtualOf(dev device.Device) virtualTime {
	if !dev.Info().Simulated {
		return nil
	}
	v, _ := dev.(virtualTime)
	return v
}

// NewHost returns a host without programs.
func NewHost(dev device.Device, p sharing.Policy) *Host {
	h := &Host{dev: dev, core: sharing.New(p), form: p.Form(), virtual: virtualOf(dev)}
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
	lane    *Lane
	stages  []Work
	granted []time.Duration                     // times of the grants in flight, if they are watched
	ended   []func(at time.Duration, err error) // of the stages that wait or run, in order
	err     error                               // of the present stage
	running Stopper                             // the work of the grant in flight, if it can be stopped
	from    int                                 // its first unit
}

// Add adds a program. known has what else is known about each stage, its time alone and the gaps behind it, and may be nil.
// Classes with a priority have a stream with it.
func (h *Host) Add(name string, class int, stages []Work, known []sharing.Stage) (*Program, error) {
	p := &Program{host: h}
	var core []sharing.Stage
	for i, w := range stages {
		if s, ok := w.(*Stage); ok {
			w = s.Work
		}
		p.stages = append(p.stages, w)
		s := sharing.Stage{Units: w.Units()}
		if i < len(known) {
			s.Alone, s.Gaps = known[i].Alone, known[i].Gaps
		}
		core = append(core, s)
	}
	var err error
	if p.lane, err = NewLane(h.dev, h.form, class); err != nil {
		return nil, err
	}
	p.Program = h.core.Add(name, class, core)
	p.Data = p
	h.programs = append(h.programs, p)
	return p, nil
}

// Remove removes a program and frees what Add has created. Its stages end with an error, after its work in flight.
func (h *Host) Remove(p *Program, reason error) error {
	h.Cancel(p, reason)
	h.programs = slices.DeleteFunc(h.programs, func(q *Program) bool { return q == p })
	h.core.Remove(p.Program)
	err := h.dev.Synchronize(p.lane.stream)
	for _, f := range p.ended {
		f(h.Now(), reason)
	}
	p.ended = nil
	return device.Join(err, p.lane.Close())
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
	for _, q := range h.programs {
		if q.Class < p.Class {
			h.stop(q)
		}
	}
}

// stop ends the grant in flight of a program after the present unit, if it can be stopped.
func (h *Host) stop(p *Program) {
	if p.running == nil {
		return
	}
	if err := p.running.Stop(); err != nil {
		h.fail(err)
	}
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
	h.stop(p)
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
	submit := p.stages[g.Stage].Submit
	if w, ok := p.stages[g.Stage].(Stopper); ok && g.Stoppable {
		p.running, p.from, submit = w, g.First, w.Run
	}
	err := submit(p.lane.stream, g.First, g.Units)
	if err != nil && p.err == nil {
		p.err = err
	}
	if err = p.lane.Mark(); err != nil {
		h.fail(err)
		return
	}
	if p.err != nil {
		h.Cancel(p, p.err)
	}
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
		p.ended, p.lane.flying, p.granted = nil, 0, nil
		for _, f := range all {
			f(h.Now(), err)
		}
	}
}
