package transporttest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/reprise-gpu/reprise/internal/transport"
)

// Check is a check of a transport. All ranks run it, and each returns an error for what it found wrong.
type Check struct {
	Name string
	Run  func(context.Context, transport.Transport) error
}

// Checks leave the transport as it was, so all can run on the same one.
var Checks = []Check{
	{"gather", checkGather},
	{"patterns", checkPatterns},
	{"restart", checkRestart},
	{"tags", checkTags},
	{"overlap", checkOverlap},
	{"large", checkLarge},
	{"mismatch", checkMismatch},
	{"order", checkOrder},
	{"misuse", checkMisuse},
	{"agree", checkAgree},
	{"calls", checkCalls},
}

// generator returns numbers that are equal on all ranks.
func generator(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// fill writes bytes that depend on a message and a run.
func fill(bytes []byte, message, run int) {
	r := rand.New(rand.NewPCG(uint64(message), uint64(run)))
	for len(bytes) >= 8 {
		binary.LittleEndian.PutUint64(bytes, r.Uint64())
		bytes = bytes[8:]
	}
	for i := range bytes {
		bytes[i] = byte(r.Uint32())
	}
}

// checkFilled compares with what fill writes.
func checkFilled(bytes []byte, message, run int) error {
	expected := make([]byte, len(bytes))
	fill(expected, message, run)
	for i, b := range bytes {
		if b != expected[i] {
			return fmt.Errorf("run %d, message %d of %d bytes: byte %d is %#x instead of %#x", run, message, len(bytes), i, b, expected[i])
		}
	}
	return nil
}

func checkGather(ctx context.Context, t transport.Transport) error {
	r := generator(1)
	for round := range 40 {
		sizes := make([]int, t.Size())
		for i := range sizes {
			sizes[i] = r.IntN([]int{1, 10, 1000, 100_000}[round%4])
		}
		mine := make([]byte, sizes[t.Rank()])
		fill(mine, t.Rank(), round)
		all, err := t.Gather(ctx, mine)
		if err != nil {
			return err
		}
		if err := checkGathered(all, sizes, round); err != nil {
			return err
		}
	}
	return nil
}

func checkGathered(all [][]byte, sizes []int, round int) error {
	if len(all) != len(sizes) {
		return fmt.Errorf("a call of Gather returned %d parts for %d ranks", len(all), len(sizes))
	}
	for rank, part := range all {
		if len(part) != sizes[rank] {
			return fmt.Errorf("a call of Gather returned %d bytes of rank %d instead of %d", len(part), rank, sizes[rank])
		}
		if err := checkFilled(part, rank, round); err != nil {
			return err
		}
		clear(part) // it belongs to this rank alone
	}
	return nil
}

// planned is a message of a pattern that all ranks generate alike.
type planned struct {
	from, to int
	tag      int32
	size     int
}

// pattern returns random messages. Some have equal ranks and tags, and some are empty.
func pattern(r *rand.Rand, ranks int) []planned {
	all := make([]planned, r.IntN(8*ranks))
	tags := []int32{0, 1, -1, 7, 1 << 30, -1 << 31}[:1+r.IntN(6)]
	for i := range all {
		all[i] = planned{r.IntN(ranks), r.IntN(ranks), tags[r.IntN(len(tags))], r.IntN([]int{1, 16, 500, 20_000}[r.IntN(4)])}
	}
	return all
}

// part is what one rank has of a pattern.
type part struct {
	messages []transport.Message
	planned  []int // the message of the pattern that each is
}

// partOf returns the messages of a rank, in an order that differs between ranks. Messages with equal ranks and tags keep
// their order.
func partOf(pattern []planned, rank int) part {
	var p part
	add := func(i, peer int, send bool) {
		p.messages = append(p.messages, transport.Message{Peer: peer, Tag: pattern[i].tag, Send: send, Bytes: make([]byte, pattern[i].size)})
		p.planned = append(p.planned, i)
	}
	for pass := range 2 {
		for i, m := range pattern {
			receivesFirst := (pass+rank)%2 == 0
			if m.to == rank && receivesFirst {
				add(i, m.from, false)
			}
			if m.from == rank && !receivesFirst {
				add(i, m.to, true)
			}
		}
	}
	return p
}

func (p part) run(ctx context.Context, e transport.Exchange, run int) error {
	p.fill(run)
	if err := e.Run(ctx); err != nil {
		return err
	}
	return p.check(run)
}

func (p part) fill(run int) {
	for i, m := range p.messages {
		if m.Send {
			fill(m.Bytes, p.planned[i], run)
		} else {
			clear(m.Bytes)
		}
	}
}

func (p part) check(run int) error {
	for i, m := range p.messages {
		if err := checkFilled(m.Bytes, p.planned[i], run); err != nil {
			return err
		}
	}
	return nil
}

func checkPatterns(ctx context.Context, t transport.Transport) error {
	r := generator(2)
	for range 30 {
		if err := runPattern(ctx, t, pattern(r, t.Size()), 4); err != nil {
			return err
		}
	}
	return nil
}

func runPattern(ctx context.Context, t transport.Transport, pattern []planned, runs int) error {
	p := partOf(pattern, t.Rank())
	e, err := t.Freeze(p.messages)
	if err != nil {
		return err
	}
	for run := range runs {
		if err := p.run(ctx, e, run); err != nil {
			return err
		}
	}
	return e.Close()
}

// ring returns a message to the next rank and one to the previous.
func ring(ranks, size int) []planned {
	var all []planned
	for r := range ranks {
		all = append(all, planned{r, (r + 1) % ranks, 1, size}, planned{r, (r + ranks - 1) % ranks, 2, size})
	}
	return all
}

func checkRestart(ctx context.Context, t transport.Transport) error {
	return runPattern(ctx, t, ring(t.Size(), 16), 10_000)
}

func checkTags(ctx context.Context, t transport.Transport) error {
	var all []planned
	for tag := range 300 {
		all = append(all, planned{0, t.Size() - 1, int32(tag * 1_000_003), tag % 9})
	}
	return runPattern(ctx, t, all, 3)
}

func checkLarge(ctx context.Context, t transport.Transport) error {
	return runPattern(ctx, t, ring(t.Size(), 1<<20+3), 2)
}

// checkOverlap runs two exchanges with equal tags at the same time. Odd ranks start and wait in the opposite order.
func checkOverlap(ctx context.Context, t transport.Transport) error {
	parts := []part{partOf(ring(t.Size(), 100), t.Rank()), partOf(ring(t.Size(), 50), t.Rank())}
	exchanges := make([]transport.Exchange, 2)
	for i, p := range parts {
		var err error
		if exchanges[i], err = t.Freeze(p.messages); err != nil {
			return err
		}
	}
	for run := range 100 {
		if err := overlap(ctx, parts, exchanges, (run/2+t.Rank())%2, run); err != nil {
			return err
		}
	}
	return errors.Join(exchanges[0].Close(), exchanges[1].Close())
}

func overlap(ctx context.Context, parts []part, exchanges []transport.Exchange, first, run int) error {
	for _, i := range []int{first, 1 - first} {
		parts[i].fill(run)
		if err := exchanges[i].Start(); err != nil {
			return err
		}
	}
	for _, i := range []int{1 - first, first} {
		if err := exchanges[i].Wait(ctx); err != nil {
			return err
		}
		if err := parts[i].check(run); err != nil {
			return err
		}
	}
	return nil
}

// checkMismatch freezes messages that do not fit together. Every rank must return the same error, and the transport must
// work afterwards.
func checkMismatch(ctx context.Context, t transport.Transport) error {
	last := t.Size() - 1
	message := func(peer, tag int, send bool, size int) transport.Message {
		return transport.Message{Peer: peer, Tag: int32(tag), Send: send, Bytes: make([]byte, size)}
	}
	cases := []struct {
		sent, received []transport.Message // by rank 0, by the last rank
		text           []string
	}{
		{[]transport.Message{message(last, 7, true, 64)}, []transport.Message{message(0, 7, false, 60)},
			[]string{fmt.Sprintf("rank 0 sends 1 message of 64 bytes with tag 7 to rank %d, which receives 1 message of 60 bytes", last)}},
		{[]transport.Message{message(last, 7, true, 64), message(last, 7, true, 8)}, []transport.Message{message(0, 7, false, 64)},
			[]string{fmt.Sprintf("rank 0 sends 2 messages of 64 and 8 bytes with tag 7 to rank %d, which receives 1 message of 64 bytes", last)}},
		{[]transport.Message{message(last, 7, true, 64)}, []transport.Message{message(0, 8, false, 64)},
			[]string{fmt.Sprintf("rank 0 sends 1 message of 64 bytes with tag 7 to rank %d, which receives no message", last)}},
		{nil, []transport.Message{message(0, -3, false, 5)},
			[]string{fmt.Sprintf("rank 0 sends no message with tag -3 to rank %d, which receives 1 message of 5 bytes", last)}},
		{[]transport.Message{message(last+1, 7, true, 64)}, nil, []string{"message 0 of rank 0 names rank", "there are ranks 0 to"}},
	}
	for _, c := range cases {
		var mine []transport.Message
		if t.Rank() == 0 {
			mine = append(mine, c.sent...)
		}
		if t.Rank() == last {
			mine = append(mine, c.received...)
		}
		_, err := t.Freeze(mine)
		if err := expectText(err, c.text...); err != nil {
			return err
		}
	}
	return runPattern(ctx, t, ring(t.Size(), 16), 2)
}

// expectText returns an error if err lacks a text.
func expectText(err error, texts ...string) error {
	if err == nil {
		return fmt.Errorf("no error; expected %q", texts)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			return fmt.Errorf("error %q lacks %q", err, text)
		}
	}
	return nil
}

// checkOrder makes the last rank freeze while the others gather.
func checkOrder(ctx context.Context, t transport.Transport) error {
	if t.Size() == 1 {
		return nil
	}
	var err error
	if t.Rank() == t.Size()-1 {
		_, err = t.Freeze(nil)
	} else {
		_, err = t.Gather(ctx, nil)
	}
	var order *transport.OrderError
	if !errors.As(err, &order) {
		return fmt.Errorf("calls of Freeze on one rank and Gather on another returned %v", err)
	}
	if err := expectText(err, fmt.Sprintf("rank 0 called Gather while rank %d called Freeze", t.Size()-1)); err != nil {
		return err
	}
	return runPattern(ctx, t, ring(t.Size(), 16), 2)
}

// checkMisuse calls methods of an exchange in wrong states. The transport must work afterwards.
func checkMisuse(ctx context.Context, t transport.Transport) error {
	p := partOf(ring(t.Size(), 8), t.Rank())
	e, err := t.Freeze(p.messages)
	if err != nil {
		return err
	}
	if err := expectText(e.Wait(ctx), "Wait of exchange", "was not started"); err != nil {
		return err
	}
	if err := e.Start(); err != nil {
		return err
	}
	if err := expectText(e.Start(), "Start of exchange", "is in progress"); err != nil {
		return err
	}
	if err := errors.Join(e.Wait(ctx), p.run(ctx, e, 1), e.Close(), e.Close()); err != nil {
		return err
	}
	return errors.Join(expectText(e.Start(), "Start of exchange", "was closed"), runPattern(ctx, t, ring(t.Size(), 16), 2))
}

func checkAgree(ctx context.Context, t transport.Transport) error {
	for n := range 20 {
		if err := transport.Agree(ctx, t, items(n)); err != nil {
			return err
		}
		for at := range n {
			if err := checkDifference(ctx, t, n, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// items returns n items, equal on all ranks.
func items(n int) []transport.Named {
	all := make([]transport.Named, n)
	for i := range all {
		all[i] = transport.Named{Name: fmt.Sprintf("operation %d", i), Hash: [32]byte{byte(i)}}
	}
	return all
}

// checkDifference changes one item, and all behind it, on the last rank, and then leaves them out.
func checkDifference(ctx context.Context, t transport.Transport, n, at int) error {
	if t.Size() == 1 {
		return nil
	}
	last := t.Size() - 1
	changed, short := items(n), items(n)
	if t.Rank() == last {
		for i := at; i < n; i++ {
			changed[i].Hash[1] = 1
		}
		short = short[:at]
	}
	name := fmt.Sprintf("the ranks differ in item %d: %q on rank", at, fmt.Sprintf("operation %d", at))
	return errors.Join(
		expectText(transport.Agree(ctx, t, changed), name, fmt.Sprintf(`another "operation %d" on rank %d:`, at, last)),
		expectText(transport.Agree(ctx, t, short), name, fmt.Sprintf("no such item on rank %d:", last)))
}

// checkCalls makes equal calls, a different one on the last rank, and a gather without a call on it. All ranks must return the
// same error, and can go on.
func checkCalls(ctx context.Context, t transport.Transport) error {
	last := t.Size() - 1
	parts, err := transport.GatherFor(ctx, t, "Run of 4 steps", []byte{byte(t.Rank())})
	for r, part := range parts {
		if len(part) != 1 || part[0] != byte(r) {
			err = errors.Join(err, fmt.Errorf("GatherFor returned %v for rank %d", part, r))
		}
	}
	if err != nil || last == 0 {
		return err
	}
	call := "Run of 4 steps"
	if t.Rank() == last {
		call = "Run of 5 steps"
	}
	_, err = transport.GatherFor(ctx, t, call, nil)
	differ := expectText(err, "the ranks differ in a call: Run of 4 steps on rank", fmt.Sprintf(", Run of 5 steps on rank %d:", last))
	if t.Rank() == last {
		_, err = t.Gather(ctx, []byte("call without an end"))
		return errors.Join(differ, err)
	}
	_, err = transport.GatherFor(ctx, t, call, nil)
	return errors.Join(differ, expectText(err, fmt.Sprintf("another collective call on rank %d", last)))
}
