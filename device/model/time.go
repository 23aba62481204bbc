package model

// Time is virtual time in picoseconds.
type Time int64

const (
	Nanosecond  Time = 1000
	Microsecond      = 1000 * Nanosecond
	Second           = 1000 * 1000 * Microsecond
)

// LastTime is the end of virtual time, after 53 days. A task that would end later ends then, and a task that starts
// then takes no time. So every simulation terminates, and a result of LastTime is a lower bound. LastTime is half of
// the greatest Time, so that the sum of two times does not overflow.
const LastTime Time = 1 << 62

// Plus returns the sum of two times, at most LastTime. Both must be at least 0.
func (t Time) Plus(d Time) Time { return min(t, LastTime-min(d, LastTime)) + min(d, LastTime) }

// MaxGap is an upper bound of every gap of a profile.
const MaxGap = 100 * Microsecond
