package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Local returns the transports of n ranks inside this process, by rank. A message is copied when both sides have started
// it, so a rank can wait for another where MPI would already have buffered a small message.
func Local(n int) []Transport { return LocalWith(n, Options{}) }

// LocalWith is Local with other limits.
func LocalWith(n int, o Options) []Transport {
	w := &world{watch: o.WithDefaults().Watch, failed: make(chan struct{}), ranks: make([]*local, n), links: map[linkKey]*link{}}
	all := make([]Transport, n)
	for r := range all {
		w.ranks[r] = &local{world: w, rank: r}
		all[r] = w.ranks[r]
	}
	return all
}

// world is the state that the ranks share. Messages are copied under its lock too: when the lock is free, no rank
// accesses the buffers of another one.
type world struct {
	watch  time.Duration
	failed chan struct{} // closed at the first failure

	mu         sync.Mutex
	err        error // the first failure
	ranks      []*local
	collective *collective // that some ranks have entered, and not all
	links      map[linkKey]*link
}

// local is one rank. Its fields are guarded by the lock of the world.
type local struct {
	world    *world
	rank     int
	closed   bool
	calls    string // the collective call in progress
	frozen   int    // calls of Freeze
	inFlight []*localExchange
}

func (l *local) Rank() int { return l.rank }
func (l *local) Size() int { return len(l.world.ranks) }

// fail ends the transport on all ranks, unless it has ended. The lock is held.
func (w *world) fail(err error) {
	if w.err == nil {
		w.err = err
		close(w.failed)
	}
}

// check returns the error of a call that begins. The lock is held.
func (l *local) check() error {
	if l.closed {
		return fmt.Errorf("rank %d: %w", l.rank, ErrClosed)
	}
	return l.world.err
}

// giveUp ends the transport on all ranks because this rank waits no longer, and returns the reason.
func (l *local) giveUp(e *WaitError) error {
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	l.world.fail(&LostError{Rank: l.rank, Err: e})
	return e
}

func (l *local) Abort(err error) {
	if err == nil {
		err = errors.New("Abort was called without an error")
	}
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	if !l.closed {
		l.world.fail(&LostError{Rank: l.rank, Err: err})
	}
}

// Close fails the world if an exchange or a collective call in progress misses this rank.
func (l *local) Close() error {
	w := l.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	missed := len(l.inFlight) > 0 || w.collective != nil
	for _, other := range w.ranks {
		for _, e := range other.inFlight {
			missed = missed || e.misses(l)
		}
	}
	if missed {
		w.fail(l.gone())
	}
	return nil
}

// gone is the failure of calls that need a rank that is closed.
func (l *local) gone() error { return &LostError{Rank: l.rank, Err: ErrClosed} }

// collective is a call that all ranks make.
type collective struct {
	calls []string // by rank; "" has not called
	parts [][]byte
	left  int
	done  chan struct{} // closed when all have called
}

func (l *local) Gather(ctx context.Context, mine []byte) ([][]byte, error) {
	return l.collect(ctx, "Gather", mine)
}

// collect is a gather that compares the names of the calls.
func (l *local) collect(ctx context.Context, call string, mine []byte) ([][]byte, error) {
	began := time.Now()
	c, err := l.enter(call, mine)
	if err != nil {
		return nil, err
	}
	if reason := l.await(ctx, c.done, nil); reason != nil {
		return nil, l.leave(c, call, time.Since(began), reason)
	}
	l.world.mu.Lock()
	l.calls = ""
	l.world.mu.Unlock()
	return c.result()
}

// enter joins the collective call in progress, or begins one.
func (l *local) enter(call string, mine []byte) (*collective, error) {
	w := l.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := l.check(); err != nil {
		return nil, err
	}
	if l.calls != "" {
		return nil, fmt.Errorf("rank %d called %s during its %s: collective calls follow one another", l.rank, call, l.calls)
	}
	if w.collective == nil {
		w.collective = &collective{calls: make([]string, l.Size()), parts: make([][]byte, l.Size()), left: l.Size(), done: make(chan struct{})}
	}
	c := w.collective
	l.calls, c.calls[l.rank], c.parts[l.rank] = call, call, bytes.Clone(mine)
	if c.left--; c.left == 0 {
		w.collective = nil
		close(c.done)
		return c, nil
	}
	for _, other := range w.ranks {
		if other.closed && c.calls[other.rank] == "" {
			w.fail(other.gone())
		}
	}
	return c, nil
}

// result returns a copy of all parts, or the error of ranks in different calls.
func (c *collective) result() ([][]byte, error) {
	for r, call := range c.calls {
		if call != c.calls[0] {
			return nil, &OrderError{Ranks: [2]int{0, r}, Calls: [2]string{c.calls[0], call}}
		}
	}
	parts := make([][]byte, len(c.parts))
	for r, part := range c.parts {
		parts[r] = append([]byte{}, part...)
	}
	return parts, nil
}

// leave returns the error of a collective call that ended for this reason.
func (l *local) leave(c *collective, call string, waited time.Duration, reason error) error {
	if reason == errFailed {
		return l.failure()
	}
	l.world.mu.Lock()
	e := &WaitError{Rank: l.rank, Call: call, Waited: waited, Err: reason}
	for r, called := range c.calls {
		if called == "" {
			e.Ranks = append(e.Ranks, r)
			e.Others = append(e.Others, l.world.ranks[r].activity())
		}
	}
	l.world.mu.Unlock()
	return l.giveUp(e)
}

// activity returns what a rank does. The lock is held.
func (l *local) activity() Activity {
	a := Activity{Rank: l.rank, Call: l.calls}
	if a.Call == "" && len(l.inFlight) > 0 {
		a.Call = l.inFlight[0].call()
	}
	return a
}

// failure returns why the world failed.
func (l *local) failure() error {
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	return l.world.err
}

// errFailed is the reason of await when the world has failed.
var errFailed = errors.New("BUG: this reason is replaced by that of the world")

// await returns nil when done is closed or signalled, and otherwise why the wait ended: the error of the context,
// ErrStalled or errFailed. The timer may be nil.
func (l *local) await(ctx context.Context, done <-chan struct{}, timer *time.Timer) error {
	select {
	case <-done:
		return nil
	default:
	}
	if timer == nil {
		timer = time.NewTimer(l.world.watch)
	} else {
		timer.Reset(l.world.watch)
	}
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-l.world.failed:
		if err := ctx.Err(); err != nil {
			return err
		}
		return errFailed
	case <-timer.C:
	}
	select {
	case <-done: // at the same time, or while this process was stopped
		return nil
	default:
		return ErrStalled
	}
}
