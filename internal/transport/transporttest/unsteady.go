package transporttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-gpu/reprise/internal/transport"
)

// Faults are what an unsteady transport does to the messages of its rank.
type Faults struct {
	Seed  uint64        // of delays, and of the random order in which the messages of an exchange start
	Delay time.Duration // the longest delay before a call or a message, of which every fourth is delayed
	// Drop reports whether a message that this rank sends is lost, in the given run of its exchange. The sender does not
	// notice it. Nil loses none.
	Drop func(m transport.Message, run int) bool
	// Kill is the number of calls after which the rank ends, as if its process was killed; 0 is never. Calls are those of
	// Gather, Freeze, Start and Wait.
	Kill int
}

// ErrKilled is returned by all calls of a rank that was killed.
var ErrKilled = errors.New("this rank was killed")

// Unsteady returns a transport with faults over another one. Every rank of a program uses one, with faults of its own.
// Each message is an exchange of its own, so numbers of exchanges in errors differ.
func Unsteady(t transport.Transport, f Faults) transport.Transport {
	return &unsteady{Transport: t, faults: f, random: rand.New(rand.NewPCG(f.Seed, uint64(t.Rank())))}
}

type unsteady struct {
	transport.Transport
	faults Faults
	calls  atomic.Int64

	mu     sync.Mutex
	random *rand.Rand
}

// call counts a call. It kills the rank when its time has come.
func (u *unsteady) call() error {
	if n := u.calls.Add(1); u.faults.Kill == 0 || n <= int64(u.faults.Kill) {
		return nil
	}
	_ = u.Transport.Close()
	return ErrKilled
}

func (u *unsteady) pause() {
	if u.faults.Delay <= 0 {
		return
	}
	u.mu.Lock()
	delayed, d := u.random.IntN(4) == 0, time.Duration(u.random.Int64N(int64(u.faults.Delay)))
	u.mu.Unlock()
	if delayed {
		time.Sleep(d)
	}
}

func (u *unsteady) order(n int) []int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.random.Perm(n)
}

func (u *unsteady) Gather(ctx context.Context, mine []byte) ([][]byte, error) {
	if err := u.call(); err != nil {
		return nil, err
	}
	u.pause()
	return u.Transport.Gather(ctx, mine)
}

// Freeze checks the messages by freezing them together. It then freezes each by itself, in an order that is the same on
// all ranks.
func (u *unsteady) Freeze(messages []transport.Message) (transport.Exchange, error) {
	if err := u.call(); err != nil {
		return nil, err
	}
	whole, err := u.Transport.Freeze(messages)
	if err != nil {
		return nil, err
	}
	if err := whole.Close(); err != nil {
		return nil, err
	}
	all, err := u.gatherSends(messages)
	if err != nil {
		return nil, err
	}
	return u.freezeEach(messages, all)
}

// route is a message between two ranks.
type route struct {
	From, To int
	Tag      int32
}

// gatherSends returns the messages that all ranks send.
func (u *unsteady) gatherSends(messages []transport.Message) (all []route, err error) {
	sends := []route{}
	for _, m := range messages {
		if m.Send {
			sends = append(sends, route{u.Rank(), m.Peer, m.Tag})
		}
	}
	mine, err := json.Marshal(sends)
	if err != nil {
		return nil, err
	}
	parts, err := u.Transport.Gather(context.Background(), mine)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		var of []route
		if err := json.Unmarshal(part, &of); err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	return all, nil
}

func (u *unsteady) freezeEach(messages []transport.Message, all []route) (transport.Exchange, error) {
	waiting := map[bool]map[route][]transport.Message{true: {}, false: {}}
	for _, m := range messages {
		r := route{m.Peer, u.Rank(), m.Tag}
		if m.Send {
			r = route{u.Rank(), m.Peer, m.Tag}
		}
		waiting[m.Send][r] = append(waiting[m.Send][r], m)
	}
	e := &unsteadyExchange{u: u}
	for _, r := range all {
		p := piece{}
		for _, send := range []bool{true, false} {
			if of := waiting[send][r]; len(of) > 0 {
				p.messages, waiting[send][r] = append(p.messages, of[0]), of[1:]
			}
		}
		var err error
		if p.exchange, err = u.Transport.Freeze(p.messages); err != nil {
			return nil, err
		}
		if len(p.messages) > 0 {
			e.pieces = append(e.pieces, p)
		}
	}
	return e, nil
}

// piece is an exchange of one message, with both of its sides if a rank sends to itself.
type piece struct {
	exchange transport.Exchange
	messages []transport.Message
}

// unsteadyExchange starts its pieces in the background.
type unsteadyExchange struct {
	u       *unsteady
	pieces  []piece
	run     int
	state   string // "", "is in progress" or "was closed"
	started []transport.Exchange
	done    chan error // receives a value when all are started
}

func (e *unsteadyExchange) Run(ctx context.Context) error {
	if err := e.Start(); err != nil {
		return err
	}
	return e.Wait(ctx)
}

func (e *unsteadyExchange) Start() error {
	if err := e.u.call(); err != nil {
		return err
	}
	if e.state != "" {
		return fmt.Errorf("a Start of exchange, which %s", e.state)
	}
	e.state, e.started, e.done = "is in progress", nil, make(chan error, 1)
	go func(run int) { e.done <- e.startAll(run) }(e.run)
	e.run++
	return nil
}

func (e *unsteadyExchange) startAll(run int) error {
	for _, i := range e.u.order(len(e.pieces)) {
		p := e.pieces[i]
		e.u.pause()
		if drop := e.u.faults.Drop; drop != nil && p.messages[0].Send && drop(p.messages[0], run) {
			continue
		}
		if err := p.exchange.Start(); err != nil {
			return err
		}
		e.started = append(e.started, p.exchange)
	}
	return nil
}

func (e *unsteadyExchange) Wait(ctx context.Context) error {
	if err := e.u.call(); err != nil {
		return err
	}
	if e.state != "is in progress" {
		return errors.New("a Wait of exchange, which was not started")
	}
	if err := <-e.done; err != nil {
		return err
	}
	for _, x := range e.started {
		if err := x.Wait(ctx); err != nil {
			return err
		}
	}
	e.state = ""
	return nil
}

func (e *unsteadyExchange) Close() error {
	e.state = "was closed"
	var all []error
	for _, p := range e.pieces {
		all = append(all, p.exchange.Close())
	}
	return errors.Join(all...)
}
