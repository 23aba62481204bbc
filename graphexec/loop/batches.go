package loop

import (
	"context"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/until"
)

// batches is a loop whose scalar the host reads at the end of each period. Such a read is a look. A
// period is CheckEvery iterations, or a multiple of it; it then stores the scalar of each check, and
// one look reads all of them.
//
// If the body may overrun, the next period is enqueued before the host waits for the look at the
// current one, so that the device does not idle for a round trip:
//
//	device    period 1 ─ look ─ period 2 ─ look ─ period 3 ─ …
//	host                   1 seen ─┘       2 seen ─┘
//
// Iterations past the end are undone. The state at the beginning of the last two periods is kept. That
// of the period with the end is restored, and its iterations up to the end run again.
type batches struct {
	x      *Exec
	size   int               // iterations that launch enqueues, a divisor of those of a period
	launch func(n int) error // enqueues n*size iterations
	values func() device.Ptr // where a period leaves its scalars
	period int               // iterations between two looks, a multiple of CheckEvery
	looks  []look            // one, or two used in turns if periods overlap
	undo   *undo             // nil when nothing has to be undone
	other  device.Stream     // the host waits on it for a look while the next period runs; 0 if periods do not overlap
}

// look brings the scalars of a period to the host.
type look struct {
	mail parts.Mailbox
	copy *device.Copy

	// If periods overlap: the copy, an event after it, and a wait for the event on stream other.
	list  parts.Commands
	event device.Event
}

// newHostChecked lowers a loop to replays of its body.
func newHostChecked(x *Exec) *batches {
	return &batches{
		x: x, size: 1, period: x.loop.CheckEvery,
		launch: func(n int) error { return x.body.ReplayN(context.Background(), n) },
		values: func() device.Ptr { return x.until.at },
	}
}

// build allocates the resources of the looks.
func (b *batches) build(over Overrun) (err error) {
	if over == Forbidden {
		b.looks = make([]look, 1)
	} else {
		b.looks = make([]look, 2)
		if b.other, err = b.x.dev.CreateStream(0); err != nil {
			return err
		}
	}
	for i := range b.looks {
		if err := b.looks[i].build(b); err != nil {
			return err
		}
	}
	if over == Undone {
		b.undo = &undo{x: b.x}
		return b.undo.build()
	}
	return nil
}

// checks returns the number of checks in a period.
func (b *batches) checks() int { return b.period / b.x.loop.CheckEvery }

func (l *look) build(b *batches) (err error) {
	dev := b.x.dev
	if l.mail, err = parts.NewMailbox(dev, int64(b.checks())*b.x.until.bytes); err != nil {
		return err
	}
	l.copy = l.at(b)
	if b.other == 0 {
		return nil
	}
	if l.event, err = dev.CreateEvent(); err != nil {
		return err
	}
	l.list, err = parts.Compile(dev, []device.Command{
		{Kind: device.Run, Stream: b.x.stream, Work: l.copy},
		{Kind: device.Record, Stream: b.x.stream, Event: l.event},
		{Kind: device.Await, Stream: b.other, Event: l.event},
	})
	return err
}

// at returns the copy of a look from the current address of the scalars.
func (l *look) at(b *batches) *device.Copy {
	return &device.Copy{Dst: l.mail.At, Src: b.values(), Bytes: int64(len(l.mail.Bytes)), Label: "look at " + b.x.until.name}
}

// follow moves the looks and the undo copies to the current addresses of the buffers.
func (b *batches) follow() error {
	for i := range b.looks {
		l := &b.looks[i]
		l.copy = l.at(b)
		if b.other == 0 {
			continue
		}
		if err := b.x.dev.UpdateCommand(l.list.List, 0, l.copy); err != nil {
			return err
		}
	}
	if b.undo != nil {
		return b.undo.follow()
	}
	return nil
}

// bodies returns the replays of the body itself.
func (b *batches) bodies() parts.Replays { return b.x.view }

func (b *batches) run(ctx context.Context, n int) (until.Finding, error) {
	switch {
	case n >= b.period && b.other != 0 && b.period <= b.apart():
		return b.ahead(ctx, n/b.period)
	case b.checks() > 1 || min(n, b.period)%b.size != 0:
		return b.x.host.run(ctx, n)
	}
	return b.one(ctx, min(n, b.period))
}

// apart returns the number of iterations between two waits in a long period. The context can end each wait.
func (b *batches) apart() int { return max(1, parts.MaxReplays/b.size) * b.size }

// one runs n iterations, at most a period, and waits for the look at their end.
func (b *batches) one(ctx context.Context, n int) (until.Finding, error) {
	for ; n > b.apart(); n -= b.apart() {
		if err := b.part(ctx, b.apart()); err != nil {
			return until.GoOn, err
		}
	}
	x := b.x
	err := b.iterate(n)
	if err == nil {
		err = x.dev.Submit(x.stream, b.looks[0].copy)
	}
	if err == nil {
		err = x.wait(x.stream)
	}
	if err != nil {
		return until.GoOn, x.failed(n, err)
	}
	x.stats.Checks++
	x.advance(n)
	return x.until.Look(b.looks[0].mail.Bytes), nil
}

// part runs n iterations that are not the last ones of a period.
func (b *batches) part(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := b.iterate(n)
	if err == nil {
		err = b.x.wait(b.x.stream)
	}
	if err != nil {
		return b.x.failed(n, err)
	}
	b.x.advance(n)
	return nil
}

// iterate enqueues n iterations.
func (b *batches) iterate(n int) error {
	times := n / b.size
	err := b.launch(times)
	if err == nil {
		b.x.stats.Launches += times
	}
	return err
}

// ahead runs up to the given number of periods. Each is enqueued before the wait for the look of the previous one.
func (b *batches) ahead(ctx context.Context, periods int) (until.Finding, error) {
	if err := b.enqueue(0); err != nil {
		return until.GoOn, b.x.failed(b.period, err)
	}
	for i := 0; ; i++ {
		more := i+1 < periods && ctx.Err() == nil
		if more {
			if err := b.enqueue(i + 1); err != nil {
				return until.GoOn, b.x.failed(2*b.period, err)
			}
		}
		found, at, err := b.see(i)
		if err != nil {
			return until.GoOn, b.x.failed(2*b.period, err)
		}
		if found != until.GoOn {
			return found, b.end(i, at, more)
		}
		b.x.advance(b.period)
		if !more {
			return until.GoOn, nil
		}
	}
}

// enqueue enqueues period i and the look at it.
func (b *batches) enqueue(i int) error {
	if b.undo != nil && (i > 0 || b.checks() > 1) {
		if err := b.undo.save[i%2].Submit(b.x.dev, 1); err != nil {
			return err
		}
	}
	if err := b.iterate(b.period); err != nil {
		return err
	}
	return b.looks[i%2].list.Submit(b.x.dev, 1)
}

// see waits for the look at period i. It returns the first finding other than GoOn, and the number of
// checks before it.
func (b *batches) see(i int) (found until.Finding, at int, err error) {
	if err := b.x.wait(b.other); err != nil {
		return until.GoOn, 0, err
	}
	b.x.stats.Checks++
	bytes := b.looks[i%2].mail.Bytes
	for at = range b.checks() {
		if found = b.x.until.Look(bytes[int64(at)*b.x.until.bytes:]); found != until.GoOn {
			break
		}
	}
	return found, at, nil
}

// end leaves the results of the iterations up to a check of period i in the buffers. more states that
// the next period has been enqueued.
func (b *batches) end(i, at int, more bool) error {
	x := b.x
	n := (at + 1) * x.loop.CheckEvery
	past := b.period - n
	if more {
		past += b.period
	}
	x.stats.Overrun += past
	err := b.back(i, n, past)
	if err == nil {
		err = x.wait(x.stream)
	}
	if err != nil {
		return x.failed(2*b.period, err)
	}
	x.advance(n)
	return nil
}

// back undoes the iterations past the first n ones of period i.
func (b *batches) back(i, n, past int) error {
	if b.undo == nil || past == 0 {
		return nil
	}
	if n == b.period {
		return b.undo.restore[(i+1)%2].Submit(b.x.dev, 1)
	}
	if err := b.undo.restore[i%2].Submit(b.x.dev, 1); err != nil {
		return err
	}
	return b.x.host.iterate(n)
}

func (b *batches) close() error {
	dev := b.x.dev
	var errs []error
	for i := range b.looks {
		l := &b.looks[i]
		errs = append(errs, l.list.Close(dev))
		if l.event != 0 {
			errs = append(errs, dev.DestroyEvent(l.event))
		}
		errs = append(errs, l.mail.Close(dev))
	}
	if b.other != 0 {
		errs = append(errs, dev.DestroyStream(b.other))
	}
	if b.undo != nil {
		errs = append(errs, b.undo.close())
	}
	return device.Join(errs...)
}
