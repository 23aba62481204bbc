package share

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/sentinel"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/sharing/local"
	"github.com/reprise-gpu/reprise/tracer"
)

// ErrClosed is the error of stages of a closed scheduler or program.
var ErrClosed = sentinel.New(sentinel.ErrClosed, "share: the scheduler or the program is closed")

// Priority is the importance of a program, from 0 to 9. Programs with 9 matter most.
type Priority int

// Stats counts what happened to a program.
type Stats = sharing.Stats

// Scheduler runs programs on one device. Its methods, and those of its programs, may be called from any goroutine.
// While stages run, only the scheduler may use the device. Use lends it to others.
type Scheduler struct {
	dev  device.Device
	kick chan struct{} // wakes the goroutine that waits for the device
	done chan struct{} // closed when it has ended

	mu       sync.Mutex // guards what follows, and the device
	host     *local.Host
	policy   Policy
	programs map[*Program]bool
	closed   bool
}

// New starts a scheduler on a device. Close it before the device.
func New(dev device.Device, p Policy) (*Scheduler, error) {
	if absent.Is(dev) {
		return nil, absent.Nil("the device")
	}
	if absent.Is(p) {
		return nil, absent.Nil("the policy")
	}
	s := &Scheduler{
		dev: dev, policy: p, host: local.NewHost(dev, p), programs: map[*Program]bool{},
		kick: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go s.serve()
	return s, nil
}

// Program is a program of a scheduler.
type Program struct {
	scheduler *Scheduler
	name      string
	program   *local.Program
	stages    int
	work      []*local.Stage // freed by Close
	turn      chan struct{}  // holds an element while a stage waits or runs
	closed    bool
}

// Program adds a program. Each trace is a stage. Traces stay open until the program is closed. The program is planned and cut
// as the policy requires, and runs once or a few times to measure the times of its parts, while no other stage runs.
func (s *Scheduler) Program(name string, p Priority, stages ...*tracer.Trace) (_ *Program, err error) {
	switch {
	case s == nil || s.host == nil:
		return nil, absent.Error("the scheduler is nil or zero: use what New returns")
	case p < 0 || p >= sharing.Classes:
		return nil, fmt.Errorf("share: program %s: priority %d is not in 0..%d", name, p, sharing.Classes-1)
	case len(stages) == 0:
		return nil, fmt.Errorf("share: program %s has no stage: pass its traces", name)
	}
	q := &Program{scheduler: s, name: name, stages: len(stages), turn: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	defer func() {
		if err != nil {
			err = device.Join(fmt.Errorf("share: program %s: %w", name, err), q.release())
		}
	}()
	var work []local.Work
	var known []sharing.Stage
	for i, t := range stages {
		if t == nil || t.Graph == nil {
			return nil, absent.Error("a trace is nil or zero: pass what Finish returns")
		}
		st, err := local.NewStage(s.dev, t, s.policy.Form())
		if err != nil {
			return nil, fmt.Errorf("stage %d: %w", i, err)
		}
		q.work, work, known = append(q.work, st), append(work, st), append(known, sharing.Stage{Alone: st.Alone})
	}
	if q.program, err = s.host.Add(name, int(p), work, known); err != nil {
		return nil, err
	}
	s.programs[q] = true
	return q, nil
}

// Use calls f with the device, for example to write inputs or to read results between two stages. Stages in flight
// continue, and no stage begins until f returns. f must not call methods of the scheduler or of its programs.
func (s *Scheduler) Use(f func(device.Device) error) error {
	if s == nil || s.host == nil || f == nil {
		return absent.Error("the scheduler or the function is nil or zero: use what New returns")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return f(s.dev)
}

// release frees the stages.
func (p *Program) release() (err error) {
	for _, w := range p.work {
		err = device.Join(err, w.Close())
	}
	p.work = nil
	return err
}

// Replay runs all stages, one after another. See Stage.
func (p *Program) Replay(ctx context.Context) error {
	if p == nil || p.scheduler == nil {
		return ErrClosed
	}
	for i := range p.stages {
		if err := p.Stage(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// Stage runs one stage and returns when it has ended. If the context is done before, the rest of the stage does not run,
// and the error is that of the context: units in flight end first, and the contents of what the stage writes are then
// undefined. A program runs one stage at a time: another call waits.
//
// If a kernel faults, the device refuses all further work, and all stages end with the error.
func (p *Program) Stage(ctx context.Context, i int) error {
	if p == nil || p.scheduler == nil {
		return ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	ended := make(chan error, 1)
	if err := p.submit(i, ended); err != nil {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return p.cancel(ctx, ended)
	}
}

// submit hands a stage to the policy and submits what it grants.
func (p *Program) submit(i int, ended chan error) error {
	s := p.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || p.closed {
		return ErrClosed
	}
	if i < 0 || i >= p.stages {
		return fmt.Errorf("share: program %s has no stage %d: it has %d", p.name, i, p.stages)
	}
	s.host.Arrive(p.program, i, func(_ time.Duration, err error) { ended <- err })
	_, err := s.host.Launch()
	s.wake()
	if err != nil {
		return fmt.Errorf("share: program %s: %w", p.name, err)
	}
	return nil
}

// cancel ends the stage of the program and returns when it has left the device.
func (p *Program) cancel(ctx context.Context, ended chan error) error {
	s := p.scheduler
	s.mu.Lock()
	s.host.Cancel(p.program, context.Cause(ctx))
	s.wake()
	s.mu.Unlock()
	return <-ended
}

// Stats returns the counts so far.
func (p *Program) Stats() Stats {
	if p == nil || p.scheduler == nil {
		return Stats{}
	}
	p.scheduler.mu.Lock()
	defer p.scheduler.mu.Unlock()
	return p.program.Stats()
}

// Close ends the stages that wait with ErrClosed, waits for those that run, and removes the program. It leaves the traces
// open. Other programs continue.
func (p *Program) Close() error {
	if p == nil || p.scheduler == nil {
		return nil
	}
	s := p.scheduler
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remove(p)
}

func (s *Scheduler) remove(p *Program) error {
	if p.closed {
		return nil
	}
	p.closed = true
	delete(s.programs, p)
	err := s.host.Remove(p.program, ErrClosed)
	s.wake()
	return device.Join(err, p.release())
}

// Bound returns how long a stage of the greatest priority waits at most for others that are in flight, if they take their
// predicted times, and the longest unit that could not be cut. That one is submitted only if the present gap is
// expected to last longer. Only Fill has bounds; ok is false otherwise.
func (s *Scheduler) Bound() (bound, uncut time.Duration, ok bool) {
	f, ok := s.policy.(*sharing.Fill)
	if !ok {
		return 0, 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	bound, uncut = s.host.Bound(f)
	return bound, uncut, true
}

// Close ends the stages that wait with ErrClosed, waits for those that run, and frees what the scheduler has allocated. It
// leaves the traces and the device open. A second Close does nothing.
func (s *Scheduler) Close() (err error) {
	if s == nil || s.host == nil {
		return nil
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.done
		return nil
	}
	s.closed = true
	for p := range s.programs {
		err = device.Join(err, s.remove(p))
	}
	s.wake()
	s.mu.Unlock()
	<-s.done
	return err
}

// wake ends the wait of the goroutine of the scheduler.
func (s *Scheduler) wake() {
	select {
	case s.kick <- struct{}{}:
	default: // it is awake
	}
}
