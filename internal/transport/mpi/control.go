package mpi

import (
	"errors"
	"sync"
	"time"

	"github.com/reprise-gpu/reprise/internal/transport"
)

// control finds lost ranks and forwards failures. Every rank has a TCP connection to rank 0, and rank 0 one to every
// other rank. Both ends send a note in each interval, and a connection without notes for the lease is lost. Rank 0
// forwards failures and farewells to all others.
type control struct {
	rank, size int
	lease      time.Duration
	interval   time.Duration // between signs of life
	activity   func() string // of this rank, as in transport.WaitError
	links      []*link       // by rank; nil where there is no connection
	failed     chan struct{} // closed at the first failure
	allClosed  chan struct{} // closed when all ranks have sent a farewell
	answer     chan []string // receives the activities of all ranks
	ended      chan struct{} // closed by close
	endOnce    sync.Once
	readers    sync.WaitGroup

	mu         sync.Mutex
	err        *transport.LostError // the first failure
	failedAt   time.Time            // when it was recorded
	farewells  []*farewell          // by rank; nil is not closed
	left       int                  // ranks that have sent none
	activities []string             // by rank, at rank 0
}

// farewell states how far a rank came before it called Close.
type farewell struct {
	Collectives int   // calls of Gather and Freeze
	Runs        []int // by exchange
}

// note is a message of the control connections. Exactly one of the fields that are not Activity is set, or none.
type note struct {
	Activity string // of the sender
	Failure  *failure
	Farewell *departure
	Ask      bool     // for the activities of all ranks
	Answer   []string // by rank
}

type departure struct {
	Rank     int
	Farewell farewell
}

// failure is a transport.LostError.
type failure struct {
	Rank int
	Text string
	Kind int // of the error: 1 + an index of kinds; 0 is another error
}

// kinds are the errors that errors.Is finds on all ranks.
var kinds = []error{transport.ErrClosed, transport.ErrStalled, errCanceled, errDeadline}

// remoteError is an error of another rank.
type remoteError struct {
	text string
	kind error // nil or one of kinds
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.kind }

func encodeFailure(e *transport.LostError) *failure {
	f := &failure{Rank: e.Rank, Text: e.Err.Error()}
	for i, kind := range kinds {
		if errors.Is(e, kind) {
			f.Kind = 1 + i
		}
	}
	return f
}

func (f *failure) decode() *transport.LostError {
	e := &remoteError{text: f.Text}
	if f.Kind > 0 && f.Kind <= len(kinds) {
		e.kind = kinds[f.Kind-1]
	}
	return &transport.LostError{Rank: f.Rank, Err: e}
}

// newControl returns a control without connections.
func newControl(rank, size int, o transport.Options, activity func() string) *control {
	c := &control{rank: rank, size: size, lease: o.Lease, activity: activity, left: size,
		interval: min(time.Second, o.Lease/4, o.Watch/4), links: make([]*link, size), failed: make(chan struct{}),
		allClosed: make(chan struct{}), answer: make(chan []string, 1), ended: make(chan struct{}),
		farewells: make([]*farewell, size), activities: make([]string, size)}
	return c
}

// serve begins to read all connections, and to send signs of life.
func (c *control) serve() {
	for r, l := range c.links {
		if l != nil {
			c.readers.Go(func() { c.read(r, l) })
		}
	}
	c.readers.Go(c.beat)
}

// send sends a note to all connected ranks but one. Errors are found by the reader of the connection.
func (c *control) send(n note, except int) {
	n.Activity = c.activity()
	for r, l := range c.links {
		if l != nil && r != except {
			l.send(n)
		}
	}
}

// beat sends signs of life until the control is closed.
func (c *control) beat() {
	ticker := time.NewTicker(c.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			c.send(note{}, -1)
		case <-c.ended:
			return
		}
	}
}

// read handles the notes of a connection to rank r until it ends.
func (c *control) read(r int, l *link) {
	for {
		n, err := l.receive(c.lease)
		if err != nil {
			c.disconnected(r, err)
			return
		}
		c.handle(r, l, n)
	}
}

// disconnected handles the end of a connection. Before a farewell, it is a failure.
func (c *control) disconnected(r int, err error) {
	select {
	case <-c.ended:
		return
	default:
	}
	if c.farewell(r) == nil {
		c.fail(&transport.LostError{Rank: r, Err: err}, r)
	}
}

func (c *control) handle(from int, l *link, n note) {
	c.mu.Lock()
	c.activities[from] = n.Activity
	c.mu.Unlock()
	switch {
	case n.Failure != nil:
		c.fail(n.Failure.decode(), from)
	case n.Farewell != nil:
		c.leave(*n.Farewell, from)
	case n.Ask:
		l.send(note{Activity: c.activity(), Answer: c.table()})
	case n.Answer != nil:
		select {
		case c.answer <- n.Answer:
		default: // of an earlier question
		}
	}
}

// fail records the first failure and forwards it to all connected ranks but the one that reported it. The ranks are
// informed first: when the failure is visible here, this process may end.
func (c *control) fail(e *transport.LostError, from int) {
	c.mu.Lock()
	first := c.err == nil
	if first {
		c.err, c.failedAt = e, time.Now()
	}
	c.mu.Unlock()
	if first {
		c.send(note{Failure: encodeFailure(e)}, from)
		close(c.failed)
	}
}

func (c *control) hasFailed() bool {
	select {
	case <-c.failed:
		return true
	default:
		return false
	}
}

// reporting is how long ranks have to report a failure before the first of them may exit. Then mpirun sends SIGTERM to
// all others, and SIGKILL when the next one exits.
const reporting = 300 * time.Millisecond

// settle returns when all other ranks can have reported the failure, which they receive within milliseconds.
func (c *control) settle() {
	if c.size > 1 {
		c.mu.Lock()
		at := c.failedAt
		c.mu.Unlock()
		time.Sleep(time.Until(at.Add(reporting)))
	}
}

// failure returns the first failure. It is called after failed is closed.
func (c *control) failure() *transport.LostError {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// leave records the farewell of a rank, and forwards it.
func (c *control) leave(d departure, from int) {
	c.mu.Lock()
	c.farewells[d.Rank] = &d.Farewell
	c.left--
	last := c.left == 0
	c.mu.Unlock()
	c.send(note{Farewell: &d}, from)
	if last {
		close(c.allClosed)
	}
}

// farewell returns nil if a rank has not closed.
func (c *control) farewell(rank int) *farewell {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.farewells[rank]
}

// table returns what all ranks did at their last sign of life.
func (c *control) table() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := append([]string{}, c.activities...)
	all[c.rank] = c.activity()
	return all
}

// everyActivity returns what all ranks do, by rank, nil if rank 0 does not answer.
func (c *control) everyActivity() []string {
	if c.rank == 0 {
		return c.table()
	}
	c.send(note{Ask: true}, -1)
	select {
	case all := <-c.answer:
		return all
	case <-c.failed:
	case <-time.After(min(c.lease, time.Second)):
	}
	return nil
}

// close closes the connections. A second call does nothing.
func (c *control) close() {
	c.endOnce.Do(func() { close(c.ended) })
	c.disconnect()
	c.readers.Wait()
}
