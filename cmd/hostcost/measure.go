//go:build cuda

package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/cuda/lazycuda"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
)

// batch is how many replays ReplayN is given at once: a crossing takes as long as ninety launches of a graph that do
// nothing, so of a thousand it would still be 9 %.
const batch = 10_000

// turn is a number of replays of one side.
type turn struct {
	took  time.Duration
	calls uint64 // of the driver
}

// cost is what a replay costs the host, by the quickest turn.
type cost struct {
	ns        float64
	calls     float64 // of the driver
	allocs    float64
	crossings float64 // from Go to C, for each call of Replay or ReplayN
}

// sides are the two that take turns.
type sides struct {
	exec *graphexec.Exec
	peer *peer
}

// way is how a side replays so many times, without a wait at the end; it returns how many calls it took.
type way func(times int) (calls int, err error)

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

// stretches are parts of a measurement, an odd number. What disturbs a turn makes it longer, so in each the quickest turn of a side
// counts; but for a while a processor may run faster, of one side only, so of the stretches it is the median.
const stretches = 9

// attempts is how often a row is measured that misses its goals: what else the machine does may last longer than a measurement.
const attempts = 3

// measure has the sides take so many turns of about that length.
func (s sides) measure(r *row, rounds int, length time.Duration) error {
	times, err := fits(length, func(n int) (time.Duration, error) {
		t, err := s.peer.replay(r.form, n)
		return t.took, err
	})
	if err != nil {
		return err
	}
	// A replay of a graph takes ninety times as long with a crossing of its own, and in so long a turn somebody else always
	// has the processor for a while.
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
	if err := s.countCalls(false); err != nil { // or that would be all that is measured
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
	parts := make([]row, stretches)
	for i := range parts {
		part := *r
		part.byHand.ns, part.one.ns, part.many.ns = math.Inf(1), math.Inf(1), math.Inf(1)
		for range max(1, rounds/stretches) {
			if err := s.takeTurns(&part, times, single); err != nil {
				return err
			}
		}
		parts[i] = part
	}
	slices.SortFunc(parts, func(a, b row) int {
		_, ofA, _ := a.ratios()
		_, ofB, _ := b.ratios()
		return cmp.Compare(ofA, ofB)
	})
	*r = parts[stretches/2]
	return nil
}

// countCalls has the drivers of both sides count their calls, or not.
func (s sides) countCalls(on bool) error {
	lazycuda.Count(on)
	return s.peer.count(on)
}

// takeTurns has each side replay so many times, ours in both ways.
func (s sides) takeTurns(r *row, times, single int) error {
	hand, err := s.peer.replay(r.form, times)
	if err != nil {
		return err
	}
	r.byHand.ns = min(r.byHand.ns, float64(hand.took.Nanoseconds())/float64(times))
	for _, ours := range []struct {
		*cost
		times int
		way
	}{{&r.one, single, s.oneByOne}, {&r.many, times, s.inBatches}} {
		took, err := s.ours(ours.times, ours.way)
		if err != nil {
			return err
		}
		ours.ns = min(ours.ns, float64(took.Nanoseconds())/float64(ours.times))
	}
	return nil
}

// fits is how many replays take a turn, by the quickest of some short ones.
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

// ours is how long it takes to replay so many times, and to wait.
func (s sides) ours(times int, w way) (time.Duration, error) {
	start := time.Now()
	_, err := w(times)
	err = device.Join(err, s.exec.Wait(context.Background()))
	return time.Since(start), err
}

// check counts what a turn of each side does, and that they do the same: Go makes the context current at the begin
// of each crossing and puts back what was.
func (s sides) check(r *row, times int) error {
	hand, err := s.peer.replay(r.form, times)
	if err != nil {
		return err
	}
	r.byHand.calls = math.Floor(float64(hand.calls) / float64(times)) // but for the wait
	begin := float64(4*r.lanes) / float64(times)                      // replays that begin on empty streams do not wait for others
	for _, side := range []struct {
		cost *cost
		way  way
	}{{&r.one, s.oneByOne}, {&r.many, s.inBatches}} {
		if _, err := side.way(times); err != nil { // what only the first does is done
			return err
		}
		if err := s.count(side.cost, times, side.way); err != nil {
			return err
		}
		if math.Abs(side.cost.calls-r.byHand.calls) > begin {
			return fmt.Errorf("%v: a replay makes %v calls of the driver, and %v by hand: these are not the same schedule", r.form, side.cost.calls, r.byHand.calls)
		}
	}
	return nil
}

// count counts three turns, of which the one with the fewest allocations counts: the runtime has its own now and then.
func (s sides) count(c *cost, times int, w way) error {
	c.allocs = math.Inf(1)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		crossed, called := runtime.NumCgoCall(), lazycuda.Calls()
		calls, err := w(times)
		called, crossed = lazycuda.Calls()-called, runtime.NumCgoCall()-crossed-2 // Calls is a crossing
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
