//go:build cuda && cgo

package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/lazycuda"
)

// batch is the number of replays in one call of ReplayN. A crossing from Go to C takes as long as ninety launches of a
// graph on the null driver: 0.9 % of a batch of this size, and 9 % of a thousand replays.
const batch = 10_000

// turn is the result of one turn of a side.
type turn struct {
	took  time.Duration
	calls uint64 // of driver functions
}

// cost is the host's cost of one replay, from the quickest turn.
type cost struct {
	ns        float64
	calls     float64 // of driver functions
	allocs    float64 // heap allocations for each call of Replay or ReplayN
	crossings float64 // from Go to C, for each call of Replay or ReplayN
}

// sides are the two sides of a comparison: this process and the C++ program.
type sides struct {
	exec *graphexec.Exec
	peer *peer
}

// replayFunc submits the given number of replays and does not wait for them. It returns the number of calls of Replay
// or ReplayN.
type replayFunc func(times int) (calls int, err error)

func (s sides) oneByOne(times int) (int, error) {
	ctx := context.Background()
	for range times {
		if err := s.exec.Replay(ctx); err != nil {
			return 0, err
		}
	}
	return times, nil
}

func (s sides) inBatches(times int) (calls int, err error) {
	ctx := context.Background()
	for ; times > 0; times -= batch {
		if err := s.exec.ReplayN(ctx, min(times, batch)); err != nil {
			return 0, err
		}
		calls++
	}
	return calls, nil
}

// parts is the number of parts of a measurement. It is odd. A disturbance makes a turn longer, so the quickest turn of
// each side in a part counts. The processor may also run faster for a while, during turns of one side only, so the
// result is the median of the parts.
const parts = 9

// attempts bounds the measurements of a row that misses its goals. A disturbance may last longer than one measurement.
const attempts = 3

// measure measures r with the given number of turns of each side, each of about the given length.
//
// It first determines how many replays fit in a turn, then checks that both sides make the same driver calls, with
// counting enabled, and then measures without counting.
func (s sides) measure(r *row, rounds int, length time.Duration) error {
	times, err := fits(length, func(n int) (time.Duration, error) {
		t, err := s.peer.replay(r.form, n)
		return t.took, err
	})
	if err != nil {
		return err
	}
	// Replay crosses into C for each replay, which for a graph takes ninety times as long as the rest. With the same
	// number of replays the turns would be so long that another process always runs during some part of them.
	single, err := fits(length, func(n int) (time.Duration, error) { return s.ours(n, s.oneByOne) })
	if err != nil {
		return err
	}
	if err := s.countCalls(true); err != nil {
		return err
	}
	if err := s.check(r, times); err != nil {
		return err
	}
	if err := s.countCalls(false); err != nil { // counting takes longer than the calls of the null driver
		return err
	}
	for range attempts {
		if err := s.compare(r, rounds, times, single); err != nil || len(r.missed()) == 0 {
			return err
		}
	}
	return nil
}

// compare measures r once.
func (s sides) compare(r *row, rounds, times, single int) error {
	list := make([]row, parts)
	for i := range list {
		part := *r
		part.byHand.ns, part.one.ns, part.many.ns = math.Inf(1), math.Inf(1), math.Inf(1)
		for range max(1, rounds/parts) {
			if err := s.takeTurns(&part, times, single); err != nil {
				return err
			}
		}
		list[i] = part
	}
	slices.SortFunc(list, func(a, b row) int {
		_, ofA, _ := a.ratios()
		_, ofB, _ := b.ratios()
		return cmp.Compare(ofA, ofB)
	})
	*r = list[parts/2]
	return nil
}

// countCalls switches the counting of driver calls on or off on both sides.
func (s sides) countCalls(on bool) error {
	lazycuda.Count(on)
	return s.peer.count(on)
}

// takeTurns lets each side take a turn: the C++ program and ReplayN with the given number of replays, Replay with
// single replays. It lowers the costs in r if a turn is quicker.
func (s sides) takeTurns(r *row, times, single int) error {
	hand, err := s.peer.replay(r.form, times)
	if err != nil {
		return err
	}
	r.byHand.ns = min(r.byHand.ns, float64(hand.took.Nanoseconds())/float64(times))
	for _, ours := range []struct {
		*cost
		times  int
		replay replayFunc
	}{{&r.one, single, s.oneByOne}, {&r.many, times, s.inBatches}} {
		took, err := s.ours(ours.times, ours.replay)
		if err != nil {
			return err
		}
		ours.ns = min(ours.ns, float64(took.Nanoseconds())/float64(ours.times))
	}
	return nil
}

// fits returns the number of replays that take about length, estimated from the quickest of five short turns.
func fits(length time.Duration, replay func(times int) (time.Duration, error)) (int, error) {
	const probe = 10
	quickest := length
	for range 5 {
		took, err := replay(probe)
		if err != nil {
			return 0, err
		}
		quickest = min(quickest, max(1, took))
	}
	return int(probe * length / quickest), nil
}

// ours returns the time of the given number of replays on this side, including the wait for them.
func (s sides) ours(times int, replay replayFunc) (time.Duration, error) {
	start := time.Now()
	_, err := replay(times)
	err = device.Join(err, s.exec.Wait(context.Background()))
	return time.Since(start), err
}

// check counts the driver calls, allocations and crossings of a turn, and returns an error if the two sides make
// different driver calls. Two calls of each crossing are subtracted (see count).
func (s sides) check(r *row, times int) error {
	hand, err := s.peer.replay(r.form, times)
	if err != nil {
		return err
	}
	r.byHand.calls = math.Floor(float64(hand.calls) / float64(times)) // without the call that waits
	begin := float64(4*r.lanes) / float64(times)                      // a replay that begins on empty streams makes fewer waits
	for _, side := range []struct {
		cost   *cost
		replay replayFunc
	}{{&r.one, s.oneByOne}, {&r.many, s.inBatches}} {
		if _, err := side.replay(times); err != nil { // not counted: the first replays may initialize state
			return err
		}
		if err := s.count(side.cost, times, side.replay); err != nil {
			return err
		}
		if math.Abs(side.cost.calls-r.byHand.calls) > begin {
			return fmt.Errorf("%v: a replay makes %v driver calls in Go and %v in C++: the two sides do not submit the same schedule",
				r.form, side.cost.calls, r.byHand.calls)
		}
	}
	return nil
}

// count counts driver calls, allocations and crossings of three turns. The fewest allocations count, because Go's
// runtime sometimes allocates, too. Each crossing makes the context current and restores the previous one: these two
// calls are not counted.
func (s sides) count(c *cost, times int, replay replayFunc) error {
	c.allocs = math.Inf(1)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		crossed, called := runtime.NumCgoCall(), lazycuda.Calls()
		calls, err := replay(times)
		called, crossed = lazycuda.Calls()-called, runtime.NumCgoCall()-crossed-2 // lazycuda.Calls is a crossing, too
		runtime.ReadMemStats(&after)
		if err := device.Join(err, s.exec.Wait(context.Background())); err != nil {
			return err
		}
		c.calls = float64(called-2*uint64(crossed)) / float64(times)
		c.allocs = min(c.allocs, float64(after.Mallocs-before.Mallocs)/float64(calls))
		c.crossings = float64(crossed) / float64(calls)
	}
	return nil
}
