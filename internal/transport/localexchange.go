package transport

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// linkKey identifies one message in all exchanges of a world.
type linkKey struct{ exchange, from, to, ordinal int }

// link is one message of both ranks. A side is waiting from its start until the other side has started too.
type link struct {
	sender, receiver side
}

type side struct {
	exchange *localExchange
	bytes    []byte
	waiting  bool
}

// localExchange is the part of an exchange that one rank has. Its fields below messages are guarded by the lock of the
// world.
type localExchange struct {
	rank     *local
	number   int
	messages []Message
	done     chan struct{} // receives a value when the last message of a run is complete
	timer    *time.Timer

	links   []*link // by message
	runs    int     // started
	pending int     // messages of the run in progress that are not complete
	state   exchangeState
}

type exchangeState int

const (
	idle exchangeState = iota
	started
	closed
)

func (l *local) Freeze(messages []Message) (Exchange, error) {
	descriptions, err := l.collect(context.Background(), "Freeze", Describe(l.rank, l.Size(), messages))
	if err != nil {
		return nil, err
	}
	number := l.frozen
	l.frozen++
	ordinals, err := Pair(number, l.rank, descriptions)
	if err != nil {
		return nil, err
	}
	e := &localExchange{rank: l, number: number, messages: slices.Clone(messages), done: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	e.timer.Stop()
	e.join(ordinals)
	return e, nil
}

// join connects the messages with those of the other ranks.
func (e *localExchange) join(ordinals []int) {
	w := e.rank.world
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, m := range e.messages {
		key := linkKey{e.number, m.Peer, e.rank.rank, ordinals[i]}
		if m.Send {
			key.from, key.to = key.to, key.from
		}
		k := w.links[key]
		if k == nil {
			k = &link{}
			w.links[key] = k
		} else {
			delete(w.links, key) // both sides have it
		}
		*k.mine(m) = side{exchange: e, bytes: m.Bytes}
		e.links = append(e.links, k)
	}
}

// mine returns the side of the rank with message m.
func (k *link) mine(m Message) *side {
	if m.Send {
		return &k.sender
	}
	return &k.receiver
}

// other returns the side of the other rank.
func (k *link) other(m Message) *side {
	m.Send = !m.Send
	return k.mine(m)
}

func (e *localExchange) Run(ctx context.Context) error {
	if err := e.Start(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return e.giveUp(0, err)
	}
	return e.Wait(ctx)
}

func (e *localExchange) Start() error {
	l := e.rank
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	if err := l.check(); err != nil {
		return err
	}
	if e.state != idle {
		return e.misused("Start", "is in progress")
	}
	e.state, e.pending = started, len(e.messages)
	e.runs++
	l.inFlight = append(l.inFlight, e)
	if e.pending == 0 {
		e.done <- struct{}{}
	}
	for i, m := range e.messages {
		e.start(e.links[i], m)
	}
	return l.world.err
}

// misused returns the error of a method in a state in which it cannot be called. what states it for a run.
func (e *localExchange) misused(method, what string) error {
	if e.state == closed {
		what = "was closed"
	}
	return fmt.Errorf("rank %d: %s of exchange %d, which %s", e.rank.rank, method, e.number, what)
}

// start copies a message if the other side waits for it. Otherwise this side waits.
func (e *localExchange) start(k *link, m Message) {
	mine, other := k.mine(m), k.other(m)
	if !other.waiting {
		mine.waiting = true
		if peer := e.rank.world.ranks[m.Peer]; peer.closed {
			e.rank.world.fail(peer.gone())
		}
		return
	}
	other.waiting = false
	copy(k.receiver.bytes, k.sender.bytes)
	mine.exchange.complete()
	other.exchange.complete()
}

func (e *localExchange) complete() {
	if e.pending--; e.pending == 0 {
		e.done <- struct{}{}
	}
}

// misses reports whether a message of the exchange waits for a rank.
func (e *localExchange) misses(l *local) bool {
	for i, m := range e.messages {
		if e.links[i].mine(m).waiting && m.Peer == l.rank {
			return true
		}
	}
	return false
}

func (e *localExchange) Wait(ctx context.Context) error {
	if !e.inProgress() {
		return e.misused("Wait", "was not started")
	}
	began := time.Now()
	reason := e.rank.await(ctx, e.done, e.timer)
	switch reason {
	case nil:
		e.end(idle)
		return nil
	case errFailed:
		return e.rank.failure()
	}
	return e.giveUp(time.Since(began), reason)
}

// end ends a run.
func (e *localExchange) end(next exchangeState) {
	l := e.rank
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	e.state = next
	l.inFlight = slices.DeleteFunc(l.inFlight, func(f *localExchange) bool { return f == e })
}

// giveUp ends the transport because this rank waits no longer.
func (e *localExchange) giveUp(waited time.Duration, reason error) error {
	w := e.rank.world
	w.mu.Lock()
	failure := &WaitError{Rank: e.rank.rank, Call: e.call(), Waited: waited, Total: len(e.messages), Err: reason}
	for i, m := range e.messages {
		if !e.links[i].mine(m).waiting {
			continue
		}
		failure.Missing = append(failure.Missing, Missing{Peer: m.Peer, Tag: m.Tag, Send: m.Send, Bytes: len(m.Bytes)})
		if !slices.ContainsFunc(failure.Others, func(a Activity) bool { return a.Rank == m.Peer }) {
			failure.Others = append(failure.Others, w.ranks[m.Peer].activity())
		}
	}
	w.mu.Unlock()
	return e.rank.giveUp(failure)
}

// call names the run in progress, or the last one.
func (e *localExchange) call() string {
	return fmt.Sprintf("run %d of exchange %d", max(e.runs-1, 0), e.number)
}

func (e *localExchange) Close() error {
	if e.inProgress() {
		e.rank.Abort(fmt.Errorf("it closed exchange %d during %s", e.number, e.call()))
	}
	e.end(closed)
	return nil
}

func (e *localExchange) inProgress() bool {
	e.rank.world.mu.Lock()
	defer e.rank.world.mu.Unlock()
	return e.state == started
}
