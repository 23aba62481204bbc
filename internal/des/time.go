package des

import "github.com/reprise-gpu/reprise/device/model"

// LastTime is the end of virtual time, after 53 days. A task that would end later ends then, and a task that starts
// then takes no time. So every simulation terminates, and a result of LastTime is a lower bound. LastTime is half of
// the greatest Time, so that the sum of two times does not overflow.
const LastTime model.Time = 1 << 62

// Plus returns the sum of two times, at most LastTime. Both must be at least 0.
func Plus(t, d model.Time) model.Time { return min(t, LastTime-min(d, LastTime)) + min(d, LastTime) }

// timeOf converts a number of picoseconds to a time, at most LastTime.
func timeOf(ps float64) model.Time { return model.Time(min(ps, float64(LastTime))) }
