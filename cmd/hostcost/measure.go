//go:build cuda

package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/reprise-gpu/reprise/cuda/lazycuda"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
)

// batch is how many replays ReplayN is given at once: a crossing takes as long as forty launches of a graph that do
// nothing, so of a thousand it would still be 4 %.
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

// measure has the sides take turns of about that length until r meets its goals, and so many at the most. What
// disturbs a turn makes it longer, so a goal that is met once is met.
func (s sides) measure(r *row, rounds int, length time.Duration) error {
	times, err := s.fits(r.form, length)
	if err != nil {
		return err
	}
	if err := s.check(r, times); err != nil {
		return err
	}
	r.byHand.ns, r.one.ns, r.many.ns = math.Inf(1), math.Inf(1), math.Inf(1)
	for round := range rounds {
		if round >= rounds/10 && len(r.missed()) == 0 {
			break
		}
		hand, err := s.peer.replay(r.form, times)
		if err != nil {
			return err
		}
		r.byHand.ns = min(r.byHand.ns, float64(hand.took.Nanoseconds())/float64(times))
		if err := s.ours(&r.one, times, s.oneByOne); err != nil {
			return err
		}
		if err := s.ours(&r.many, times, s.inBatches); err != nil {
			return err
		}
	}
	return nil
}

// fits is how many replays of C++ take a turn.
func (s sides) fits(form graphexec.Backend, length time.Duration) (int, error) {
	const probe = 10
	t, err := s.peer.replay(form, probe)
	return max(probe, int(probe*length/max(1, t.took))), err
}

func (s sides) ours(c *cost, times int, w way) error {
	start := time.Now()
	_, err := w(times)
	if err := device.Join(err, s.exec.Wait()); err != nil {
		return err
	}
	c.ns = min(c.ns, float64(time.Since(start).Nanoseconds())/float64(times))
	return nil
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
		if err := device.Join(err, s.exec.Wait()); err != nil {
			return err
		}
		c.calls = float64(called-2*uint64(crossed)) / float64(times)
		c.allocs = min(c.allocs, float64(after.Mallocs-before.Mallocs)/float64(calls))
		c.crossings = float64(crossed) / float64(calls)
	}
	return nil
}
