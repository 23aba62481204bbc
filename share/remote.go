package share

import (
	"context"
	"fmt"
	"runtime"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/sharing/local"
	"github.com/reprise-gpu/reprise/internal/sharing/wire"
	"github.com/reprise-gpu/reprise/tracer"
)

// Errors of a Remote, for errors.Is. After them the Remote is of no more use: close it, and dial again.
const (
	// ErrLost: the device was given to others, because a part of a stage did not end in time.
	ErrLost = wire.Lost
	// ErrStopped: the server has stopped.
	ErrStopped = wire.Stopped
)

// Remote is a program that shares the device with programs of other processes. A server decides which of them runs:
//
//	$ reprise share serve --socket PATH
type Remote struct {
	dev    device.Device
	client *wire.Client
	class  int
	stages []*local.Stage
	lane   *local.Lane
	turn   chan struct{}   // holds an element while a stage waits or runs
	events chan wire.Event // closed after the last
	err    error           // why events was closed
}

// Dial connects to the server at a Unix socket and registers a program, as Scheduler.Program does. The server may lower its
// priority: see Remote.Priority. The device is that of this process, and only the Remote may use it while a stage runs.
func Dial(dev device.Device, socket, name string, p Priority, stages ...*tracer.Trace) (_ *Remote, err error) {
	switch {
	case absent.Is(dev):
		return nil, absent.Nil("the device")
	case len(stages) == 0:
		return nil, fmt.Errorf("share: program %s has no stage: pass its traces", name)
	}
	r := &Remote{dev: dev, turn: make(chan struct{}, 1), events: make(chan wire.Event, 64)}
	if r.client, err = wire.Dial(socket); err != nil {
		return nil, err
	}
	if err := r.open(name, int(p), stages); err != nil {
		return nil, device.Join(fmt.Errorf("share: program %s: %w", name, err), r.client.Close(), r.free())
	}
	go r.receive()
	return r, nil
}

// open plans the stages as the server's policy requires, and registers them.
func (r *Remote) open(name string, class int, traces []*tracer.Trace) (err error) {
	var stages []sharing.Stage
	for i, t := range traces {
		if t == nil || t.Graph == nil {
			return absent.Error("a trace is nil or zero: pass what Finish returns")
		}
		s, err := local.NewStage(r.dev, t, r.client.Form())
		if err != nil {
			return fmt.Errorf("stage %d: %w", i, err)
		}
		r.stages = append(r.stages, s)
		stages = append(stages, sharing.Stage{Units: s.Units(), Alone: s.Alone})
	}
	if r.class, err = r.client.Register(name, class, stages); err != nil {
		return err
	}
	r.lane, err = local.NewLane(r.dev, r.client.Form(), r.class)
	return err
}

// Priority returns the priority that the server admits.
func (r *Remote) Priority() Priority { return Priority(r.class) }

// receive passes on the messages of the server.
func (r *Remote) receive() {
	defer close(r.events)
	for {
		e, err := r.client.Receive()
		if err != nil {
			r.err = err
			return
		}
		r.events <- e
	}
}

// Replay runs all stages, one after another. See Stage.
func (r *Remote) Replay(ctx context.Context) error {
	if r == nil || r.client == nil {
		return ErrClosed
	}
	for i := range r.stages {
		if err := r.Stage(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// Stage runs one stage and returns when it has ended. If the context is done before, the rest of the stage does not run,
// and the contents of what the stage writes are then undefined. A program runs one stage at a time: another call waits.
func (r *Remote) Stage(ctx context.Context, i int) error {
	switch {
	case r == nil || r.client == nil:
		return ErrClosed
	case i < 0 || i >= len(r.stages):
		return fmt.Errorf("share: the program has no stage %d: it has %d", i, len(r.stages))
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := r.client.Arrive(i); err != nil {
		return err
	}
	return r.run(ctx)
}

// run submits what is granted and reports its ends, until the stage has ended.
func (r *Remote) run(ctx context.Context) (err error) {
	stop := ctx.Done()
	for {
		var e wire.Event
		open := true
		switch busy := r.lane.Flying() > 0; {
		case busy && r.lane.Virtual(): // nothing else lets time pass
			if err := r.complete(); err != nil {
				return err
			}
			continue
		case busy:
			select {
			case e, open = <-r.events:
			default:
				if err := r.complete(); err != nil {
					return err
				}
				runtime.Gosched()
				continue
			}
		default:
			select {
			case e, open = <-r.events:
			case <-stop:
				stop, err = nil, context.Cause(ctx)
				if e := r.client.Cancel(); e != nil {
					return e
				}
				continue
			}
		}
		switch {
		case !open:
			return r.err
		case e.Kind == wire.Ended && err != nil:
			continue // the answer to Cancel follows
		case e.Kind != wire.Granted:
			return err
		}
		if e := r.submit(e, err != nil); e != nil {
			return e
		}
	}
}

// submit submits the units of a grant. Those of a cancelled stage need not run.
func (r *Remote) submit(e wire.Event, cancelled bool) error {
	if cancelled {
		return r.client.Completed()
	}
	if err := r.stages[e.Stage].Submit(r.lane.Stream(), e.First, e.Units); err != nil {
		return err
	}
	return r.lane.Mark()
}

// complete reports a grant that has ended.
func (r *Remote) complete() error {
	ended, err := r.lane.Ended()
	if err != nil || !ended {
		return err
	}
	return r.client.Completed()
}

// Close ends the connection, waits for the work of a stage that runs, and frees what Dial has created. It leaves the
// traces and the device open.
func (r *Remote) Close() error {
	if r == nil || r.client == nil {
		return nil
	}
	err := r.client.Close()
	r.turn <- struct{}{} // a stage that runs ends with an error
	defer func() { <-r.turn }()
	return device.Join(err, r.free())
}

// free frees the stream and the stages.
func (r *Remote) free() (err error) {
	if r.lane != nil {
		err = r.lane.Close()
	}
	for _, s := range r.stages {
		err = device.Join(err, s.Close())
	}
	r.lane, r.stages = nil, nil
	return err
}
