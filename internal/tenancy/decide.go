package tenancy

import "time"

// never is a time that is not reached.
const never = time.Duration(1<<63 - 1)

// line is what a decision depends on: the requests of a cohort that wait, with the earliest deadline first, and the times
// of its rounds.
type line struct {
	requests int           // number of requests
	waiting  int           // number of tenants with requests
	absent   int           // number of tenants without
	limit    int           // instances in a round, at most
	deadline time.Duration // the earliest; never if no request has one
	every    time.Duration // mean time between two arrivals; 0 if unknown
	last     time.Duration // the latest arrival
	times    *fit
	turn     time.Duration // from the end of a round to the launch of the next, if requests wait
	together bool          // requests that a round leaves over would wait without company: see leftovers
	credit   time.Duration // time that finding out whether they would may take
}

// guard is left between the predicted end of a round and the deadline of its first request.
const guard = 20 * time.Microsecond

// decide returns the number of requests of the round to launch now, or 0 and the time of the next decision if nothing
// arrives before. The device is free for this cohort.
//
// A round waits for more requests as long as all of these hold:
//
//   - a request has room: the round is smaller than its limit, and one more instance would not begin another wave of
//     blocks;
//   - there is time: the earliest deadline allows the round to be launched later;
//   - it gains: the device time that one more instance saves, T(n) + T(1) - T(n+1), exceeds the time that all waiting
//     requests together lose until another tenant's request arrives.
func decide(l *line, now time.Duration) (n int, at time.Duration) {
	if l.waiting == 0 {
		return 0, never
	}
	n = size(l, now)
	if n < l.waiting || n == l.limit || l.times.fills(n) || l.every == 0 || !l.times.known() {
		return n, now
	}
	latest := never
	if l.deadline != never {
		latest = l.deadline - l.times.predict(n) - guard
	}
	patience := l.last + 2*l.every
	if latest <= now || patience <= now {
		return n, now
	}
	if saved := l.times.predict(n) + l.times.predict(1) - l.times.predict(n+1); float64(saved) <= l.loss(now) {
		return n, now
	}
	return 0, min(latest, patience)
}

// loss returns the time that the waiting requests together lose until another tenant's request is expected. An arrival
// that is late is expected until it is late by another interval. It is from a tenant that does not wait yet with the
// share that these have among all.
func (l *line) loss(now time.Duration) float64 {
	gap := l.last + l.every - now
	if gap <= 0 {
		gap += l.every
	}
	return float64(l.requests) * float64(gap) * float64(l.waiting+l.absent) / float64(l.absent)
}

// size returns how many of the waiting requests a round serves: the count with the most requests per time, of those with
// which the first request ends in time. A round takes its predicted time and the turn to the next round. Requests beyond
// the count join the next round. If no other request would join that round, all are served at once unless two rounds are
// known to end earlier, or the credit allows to find out.
func size(l *line, now time.Duration) int {
	most := min(l.waiting, l.limit)
	best, rate := 1, 0.0
	inTime := func(t time.Duration) bool { return l.deadline == never || now+t <= l.deadline }
	for n := most; n > 0; n-- {
		t := l.times.predict(n)
		if t <= 0 {
			return most
		}
		if r := float64(n) / float64(t+l.turn); inTime(t) && r > rate*1.001 {
			best, rate = n, r
		}
	}
	if l.together && best < most && inTime(l.times.predict(most)) && !l.divides(most, best) {
		return most
	}
	return best
}

// divides reports whether rounds of first and of all-first requests end before one round of all, or by no more than the
// credit after it. The time of that one must have been observed twice, because the first round of a graph is slower.
func (l *line) divides(all, first int) bool {
	parts := l.times.predict(first) + l.turn + l.times.predict(all-first)
	return l.times.settled(all) && parts < l.times.predict(all)+l.credit
}

// leftovers learns whether it pays off to leave requests over for the next round. It does if others join them: 22 callers
// that submit again at once fill wave after wave of 20. It does not if the 20 wait for the two. Only rounds that leave
// requests over show which. If others do not join them, such a round takes longer, and is tried from time to time only.
type leftovers struct {
	joined float64       // share of recent rounds with leftovers that others have joined
	split  bool          // the last round left requests over
	before int           // arrivals at its launch
	credit time.Duration // a share of the time of all rounds since then
}

// trialShare is the part of the time that trials take, as a divisor.
const trialShare = 256

// together reports whether to serve all at once if that is as quick.
func (l *leftovers) together() bool { return l.joined < 0.5 }

// launch notes a round that takes a time and leaves over a number of requests, after a number of arrivals in all.
func (l *leftovers) launch(took time.Duration, over, arrivals int) {
	if l.split {
		joined := 0.0
		if arrivals > l.before {
			joined = 1
		}
		l.joined = (l.joined + joined) / 2
	}
	l.credit += took / trialShare
	if l.split = over > 0; l.split {
		l.credit, l.before = 0, arrivals
	}
}
