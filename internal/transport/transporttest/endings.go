package transporttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/internal/transport"
)

// OptionsOf returns the options of the transport for one of Endings.
func OptionsOf(ending Check) transport.Options {
	if strings.HasPrefix(ending.Name, "stall") {
		return transport.Options{Watch: 300 * time.Millisecond}
	}
	return transport.Options{} // a busy machine must not look like ranks that wait for each other
}

// Endings end the transport, so each needs a new one, with at least two ranks and the options of OptionsOf.
var Endings = []Check{
	{"abort", endAbort},
	{"abort-gather", endAbortGather},
	{"close", endClose},
	{"close-gather", endCloseGather},
	{"cancel", endCancel},
	{"cancel-gather", endCancelGather},
	{"stall", endStall},
	{"stall-gather", endStallGather},
	{"close-exchange", endCloseExchange},
}

// errPlanned is the error that a rank aborts with.
var errPlanned = errors.New("the matrix has no inverse")

// ringOf freezes messages to both neighbours and runs them some times. An error of a run is no mistake: the last rank may end
// the transport while others are behind.
func ringOf(ctx context.Context, t transport.Transport) (e transport.Exchange, freeze, run error) {
	p := partOf(ring(t.Size(), 100), t.Rank())
	e, freeze = t.Freeze(p.messages)
	for i := 0; i < 3 && freeze == nil && run == nil; i++ {
		run = p.run(ctx, e, i)
	}
	return e, freeze, run
}

// expectLost checks that calls fail with a *LostError that names the rank, in this call and all later ones.
func expectLost(ctx context.Context, t transport.Transport, e transport.Exchange, rank int, err error, texts ...string) error {
	errs := []error{err, e.Start(), e.Run(ctx)}
	_, err = t.Gather(ctx, nil)
	errs = append(errs, err)
	_, err = t.Freeze(nil)
	for _, err := range append(errs, err) {
		var lost *transport.LostError
		if !errors.As(err, &lost) || lost.Rank != rank {
			return fmt.Errorf("rank %d should be lost, and the error is %v", rank, err)
		}
		if err := expectText(err, texts...); err != nil {
			return err
		}
	}
	return errors.Join(e.Close(), t.Close(), t.Close())
}

// end runs ring exchanges until the last rank does something else, and checks the error that the others get.
func end(ctx context.Context, t transport.Transport, last func(transport.Exchange) error, texts ...string) error {
	e, freeze, err := ringOf(ctx, t)
	if freeze != nil {
		return freeze
	}
	if t.Rank() == t.Size()-1 {
		return last(e)
	}
	for err == nil { // ranks without the last one as neighbour fail later
		err = e.Run(ctx)
	}
	return expectLost(ctx, t, e, t.Size()-1, err, texts...)
}

// endGather is end with calls of Gather.
func endGather(ctx context.Context, t transport.Transport, last func(transport.Exchange) error, texts ...string) error {
	e, freeze, err := ringOf(ctx, t)
	if freeze != nil {
		return freeze
	}
	if t.Rank() == t.Size()-1 {
		return last(e)
	}
	if err == nil {
		_, err = t.Gather(ctx, nil)
	}
	return expectLost(ctx, t, e, t.Size()-1, err, texts...)
}

// abort is what the last rank does.
func abort(ctx context.Context, t transport.Transport) func(transport.Exchange) error {
	return func(e transport.Exchange) error {
		t.Abort(errPlanned)
		t.Abort(errors.New("a second abort changes nothing"))
		return expectLost(ctx, t, e, t.Rank(), e.Run(ctx), errPlanned.Error())
	}
}

func endAbort(ctx context.Context, t transport.Transport) error {
	return end(ctx, t, abort(ctx, t), errPlanned.Error())
}

func endAbortGather(ctx context.Context, t transport.Transport) error {
	return endGather(ctx, t, abort(ctx, t), errPlanned.Error())
}

// closeAll is what the last rank does. Its own calls report that the transport is closed.
func closeAll(ctx context.Context, t transport.Transport) func(transport.Exchange) error {
	return func(e transport.Exchange) error {
		if err := t.Close(); err != nil {
			return err
		}
		_, err := t.Gather(ctx, nil)
		for _, err := range []error{err, e.Start()} {
			if !errors.Is(err, transport.ErrClosed) {
				return fmt.Errorf("a call after Close returned %v", err)
			}
		}
		return errors.Join(e.Close(), t.Close())
	}
}

func endClose(ctx context.Context, t transport.Transport) error {
	return end(ctx, t, closeAll(ctx, t), transport.ErrClosed.Error())
}

func endCloseGather(ctx context.Context, t transport.Transport) error {
	return endGather(ctx, t, closeAll(ctx, t), transport.ErrClosed.Error())
}

// cancelled is what the last rank does: it makes a call with a context that is done.
func cancelled(ctx context.Context, t transport.Transport, call func(context.Context, transport.Exchange) error) func(transport.Exchange) error {
	return func(e transport.Exchange) error {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		err := call(ctx, e)
		var wait *transport.WaitError
		if !errors.As(err, &wait) || wait.Rank != t.Rank() || !errors.Is(err, context.Canceled) {
			return fmt.Errorf("a call with a cancelled context returned %v", err)
		}
		return errors.Join(e.Close(), t.Close())
	}
}

func endCancel(ctx context.Context, t transport.Transport) error {
	run := func(ctx context.Context, e transport.Exchange) error { return e.Run(ctx) }
	return end(ctx, t, cancelled(ctx, t, run), context.Canceled.Error())
}

func endCancelGather(ctx context.Context, t transport.Transport) error {
	gather := func(ctx context.Context, _ transport.Exchange) error {
		_, err := t.Gather(ctx, nil)
		return err
	}
	return end(ctx, t, cancelled(ctx, t, gather), context.Canceled.Error())
}

// expectStalled checks the error of a rank that waited for the last one too long. One of the ranks is the first to give
// up, and the others may be told by it.
func expectStalled(t transport.Transport, err error, texts ...string) error {
	if err := expectText(err, append(texts, transport.ErrStalled.Error())...); err != nil {
		return err
	}
	var wait *transport.WaitError
	var lost *transport.LostError
	if !errors.As(err, &wait) && !errors.As(err, &lost) {
		return fmt.Errorf("the error of the watchdog has type %T: %w", err, err)
	}
	return t.Close()
}

// endStall lets the last rank call Gather while the others wait for its messages.
func endStall(ctx context.Context, t transport.Transport) error {
	e, freeze, err := ringOf(ctx, t)
	if freeze != nil {
		return freeze
	}
	if t.Rank() == t.Size()-1 {
		_, err := t.Gather(ctx, nil)
		return expectStalled(t, err)
	}
	for err == nil {
		err = e.Run(ctx)
	}
	return expectStalled(t, err)
}

// endStallGather lets all ranks but the last gather.
func endStallGather(ctx context.Context, t transport.Transport) error {
	e, freeze, err := ringOf(ctx, t)
	if freeze != nil {
		return freeze
	}
	if t.Rank() == t.Size()-1 {
		return expectStalled(t, e.Run(ctx))
	}
	if err == nil {
		_, err = t.Gather(ctx, nil)
	}
	return expectStalled(t, err)
}

// endCloseExchange lets the last rank close an exchange in the middle of a run.
func endCloseExchange(ctx context.Context, t transport.Transport) error {
	return end(ctx, t, func(e transport.Exchange) error {
		return errors.Join(e.Start(), e.Close(), t.Close())
	}, "closed exchange 0")
}
