package mpi

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/transport"
)

// exchange is a list of persistent requests.
type exchange struct {
	t        *ranked
	number   int
	messages []transport.Message
	handle   unsafe.Pointer // of the library; nil is released
	pins     runtime.Pinner
	runs     atomic.Int64 // started
	state    state
}

type state int

const (
	idle state = iota
	started
	closed
)

func (t *ranked) Freeze(messages []transport.Message) (transport.Exchange, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	descriptions, err := t.gather(context.Background(), freezing, transport.Describe(t.rank, t.size, messages))
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e := &exchange{t: t, number: t.frozen, messages: slices.Clone(messages)}
	t.frozen++
	ordinals, err := transport.Pair(e.number, t.rank, descriptions)
	if err != nil {
		t.exchanges = append(t.exchanges, e) // keeps the numbers
		return nil, err
	}
	if err := e.freeze(ordinals); err != nil {
		return nil, t.lose(t.rank, err)
	}
	t.exchanges = append(t.exchanges, e)
	return e, nil
}

// freeze creates the requests. Tags of MPI are unique among all messages between two ranks, so that messages of
// different exchanges, and those with equal tags, cannot be confused.
func (e *exchange) freeze(ordinals []int) error {
	t := e.t
	list, used := make([]message, len(e.messages)), map[pair]int{}
	for i, m := range e.messages {
		p := pair{m.Peer, t.rank}
		if m.Send {
			p = pair{t.rank, m.Peer}
		}
		tag := t.last[p] + 1 + ordinals[i]
		if used[p] = max(used[p], tag); tag > t.lastTag {
			return fmt.Errorf("exchange %d: MPI has only %d tags for the messages from rank %d to rank %d of all exchanges", e.number, t.lastTag, p.from, p.to)
		}
		if len(m.Bytes) > 0 {
			e.pins.Pin(&m.Bytes[0])
		}
		list[i] = message{bytes: m.Bytes, peer: m.Peer, tag: tag, send: m.Send}
	}
	for p, tag := range used {
		t.last[p] = tag
	}
	result := t.call(request{other: func() (result int) {
		e.handle, result = t.engine.freeze(list)
		return result
	}})
	if result < 0 {
		return fmt.Errorf("MPI cannot prepare exchange %d: %s", e.number, t.engine.text(result))
	}
	return nil
}

func (e *exchange) Run(ctx context.Context) error {
	if err := e.begin(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return e.t.giveUp(e.wait(), 0, err)
	}
	result := e.t.call(request{f: run, exchange: e.handle, polls: maxPolls})
	if result == complete {
		e.state = idle
		return nil
	}
	return e.await(ctx, result)
}

// begin begins a run.
func (e *exchange) begin() error {
	if err := e.t.check(); err != nil {
		return err
	}
	if e.state != idle {
		return e.misused("Start", "is in progress")
	}
	e.state = started
	e.runs.Add(1)
	return nil
}

// misused returns the error of a method in a state in which it cannot be called. what states it for a run.
func (e *exchange) misused(method, what string) error {
	if e.state == closed {
		what = "was closed"
	}
	return fmt.Errorf("rank %d: %s of exchange %d, which %s", e.t.rank, method, e.number, what)
}

func (e *exchange) Start() error {
	if err := e.begin(); err != nil {
		return err
	}
	if result := e.t.call(request{f: start, exchange: e.handle}); result < 0 {
		return e.t.broken(result)
	}
	return nil
}

func (e *exchange) Wait(ctx context.Context) error {
	if e.state != started {
		return e.misused("Wait", "was not started")
	}
	return e.await(ctx, e.t.call(request{f: test, exchange: e.handle, polls: maxPolls}))
}

// await ends a run whose result so far is given.
func (e *exchange) await(ctx context.Context, result int) error {
	if result != complete {
		if err := e.t.await(ctx, e.wait(), result); err != nil {
			return err
		}
	}
	e.state = idle
	return nil
}

func (e *exchange) wait() *wait {
	return &wait{call: e.call(), began: time.Now(), request: request{f: test, exchange: e.handle}, failure: e.failure, closed: e.closedPeer}
}

// call names the run in progress.
func (e *exchange) call() string {
	return fmt.Sprintf("run %d of exchange %d", e.runs.Load()-1, e.number)
}

func (e *exchange) failure() *transport.WaitError {
	f := &transport.WaitError{Total: len(e.messages)}
	for i, pending := range e.pending() {
		if m := e.messages[i]; pending {
			f.Missing = append(f.Missing, transport.Missing{Peer: m.Peer, Tag: m.Tag, Send: m.Send, Bytes: len(m.Bytes)})
		}
	}
	return f
}

// pending returns for each message whether it is not complete.
func (e *exchange) pending() (all []bool) {
	e.t.call(request{other: func() (result int) {
		all, result = e.t.engine.pending(e.handle, len(e.messages))
		return result
	}})
	return all
}

// closedPeer returns the rank of a message that has closed its transport before this run, -1 if there is none.
func (e *exchange) closedPeer() int {
	for _, m := range e.messages {
		f := e.t.control.farewell(m.Peer)
		if f != nil && (e.number >= len(f.Runs) || f.Runs[e.number] < int(e.runs.Load())) {
			return m.Peer
		}
	}
	return -1
}

func (e *exchange) Close() error {
	if e.state == started {
		e.t.Abort(fmt.Errorf("it closed exchange %d during %s", e.number, e.call()))
	}
	if e.state = closed; e.t.check() == nil {
		e.release()
	}
	return nil
}

// release frees the requests. It is not called for requests in progress: MPI would still write received bytes.
func (e *exchange) release() {
	if e.handle != nil {
		e.t.call(request{f: release, exchange: e.handle})
		e.handle = nil
		e.pins.Unpin()
	}
}
