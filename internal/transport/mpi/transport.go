package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-gpu/reprise/internal/transport"
)

// ranked is a transport over MPI.
type ranked struct {
	caller
	limits  transport.Options
	control *control
	signals *signals     // nil if the host program owns the process
	closed  atomic.Bool  // Close was called
	doing   atomic.Value // string: the call that waits now

	collective  sync.Mutex // held during Gather and Freeze
	collectives int
	frozen      int // calls of Freeze

	mu        sync.Mutex
	last      map[pair]int // the last tag of MPI that was used, by ranks
	exchanges []*exchange  // by number
}

// pair is the sender and the receiver of messages.
type pair struct{ from, to int }

func (t *ranked) Rank() int { return t.rank }
func (t *ranked) Size() int { return t.size }

// activity returns the call that waits now, "" if there is none.
func (t *ranked) activity() string {
	call, _ := t.doing.Load().(string)
	return call
}

// check returns the error of a call that begins.
func (t *ranked) check() error {
	if t.closed.Load() {
		return fmt.Errorf("rank %d: %w", t.rank, transport.ErrClosed)
	}
	select {
	case <-t.control.failed:
		return t.control.failure()
	default:
		return nil
	}
}

func (t *ranked) Abort(err error) {
	if err == nil {
		err = errors.New("Abort was called without an error")
	}
	if !t.closed.Load() {
		t.lose(t.rank, err)
	}
}

// lose ends the transport on all ranks because of a rank, and returns why it ended.
func (t *ranked) lose(rank int, err error) error {
	t.control.fail(&transport.LostError{Rank: rank, Err: err}, -1)
	<-t.control.failed
	return t.control.failure()
}

// wait is a call that waits for other ranks.
type wait struct {
	call    string
	began   time.Time
	request request // whose result is complete at the end
	// failure returns the error of a rank that gives up, without its reason.
	failure func() *transport.WaitError
	// closed returns a rank that has closed its transport and is missed, and -1 if there is none.
	closed func() int
}

// patience is how long a waiting rank only polls and yields. After it, the rank sleeps between polls.
const patience, nap = 10 * time.Millisecond, 50 * time.Microsecond

// await polls until a call is complete. Its result so far is given.
func (t *ranked) await(ctx context.Context, w *wait, result int) error {
	t.doing.Store(w.call)
	defer t.doing.Store("")
	var waited time.Duration
	for result != complete {
		if result < 0 {
			return t.broken(result)
		}
		if err := t.interrupted(ctx, w, waited); err != nil {
			return err
		}
		if waited > patience {
			time.Sleep(nap)
		}
		w.request.polls = t.polls()
		waited = time.Since(w.began) // before the call: it may be the last
		result = t.call(w.request)
	}
	return nil
}

// interrupted returns an error if a call must not wait longer.
func (t *ranked) interrupted(ctx context.Context, w *wait, waited time.Duration) error {
	if err := ctx.Err(); err != nil {
		return t.giveUp(w, waited, err)
	}
	select {
	case <-t.control.failed:
		return t.control.failure()
	default:
	}
	if rank := w.closed(); rank >= 0 {
		return t.lose(rank, transport.ErrClosed)
	}
	if waited > t.limits.Watch {
		return t.giveUp(w, waited, transport.ErrStalled)
	}
	return nil
}

// giveUp ends the transport on all ranks because this one waits no longer.
func (t *ranked) giveUp(w *wait, waited time.Duration, reason error) error {
	e := w.failure()
	e.Rank, e.Call, e.Waited, e.Err = t.rank, w.call, waited, reason
	e.Others = t.others(e)
	t.lose(t.rank, e)
	return e
}

// others returns what the ranks do that a call waits for: those of the missing messages, or all others in a collective
// call that are not in the same.
func (t *ranked) others(e *transport.WaitError) []transport.Activity {
	var found []transport.Activity
	for r, call := range t.control.everyActivity() {
		missed := slices.ContainsFunc(e.Missing, func(m transport.Missing) bool { return m.Peer == r })
		if missed || e.Total == 0 && r != t.rank && call != e.Call {
			found = append(found, transport.Activity{Rank: r, Call: call})
		}
	}
	return found
}

// broken returns the error of a call that failed in MPI. If a rank was lost, that is the reason, and the control reports
// it soon.
func (t *ranked) broken(result int) error {
	err := fmt.Errorf("MPI failed: %s", t.engine.text(result))
	select {
	case <-t.control.failed:
		return t.control.failure()
	case <-time.After(time.Second):
		return t.lose(t.rank, err)
	}
}

// Close waits until all other ranks have closed too: MPI_Finalize is collective. If a rank is lost, it waits until the others can have
// reported the failure.
func (t *ranked) Close() error {
	if !t.closed.CompareAndSwap(false, true) {
		return nil
	}
	defer t.control.close()
	if !t.control.hasFailed() {
		t.control.leave(departure{t.rank, t.farewell()}, -1)
	}
	select {
	case <-t.control.failed: // the state of MPI is undefined; SIGTERM may come at any time
		t.control.settle()
		return nil
	case <-t.control.allClosed:
		t.signals.stop()
		return t.finish()
	}
}

// farewell states how far this rank came.
func (t *ranked) farewell() farewell {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := farewell{Collectives: t.collectives}
	for _, e := range t.exchanges {
		f.Runs = append(f.Runs, int(e.runs.Load()))
	}
	return f
}

// finish frees what MPI has, and finalises MPI if Open has initialised it.
func (t *ranked) finish() error {
	for _, e := range t.exchanges {
		e.release()
	}
	if result := t.finalise(); result < 0 {
		return fmt.Errorf("MPI cannot be closed: %s", t.engine.text(result))
	}
	opened.Store(false)
	return nil
}
