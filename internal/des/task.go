package des

// Time is virtual time in picoseconds.
type Time int64

const (
	Nanosecond  Time = 1000
	Microsecond      = 1000 * Nanosecond
	Second           = 1000 * 1000 * Microsecond
)

// LastTime is where virtual time ends, after 53 days. What would end later ends then, and all that
// starts then takes no time: a simulation comes to its end, and a time that is LastTime is a lower bound.
// It is half of what Time holds, so that the sum of two times does not overflow.
const LastTime Time = 1 << 62

// Plus returns the sum of two times that are not negative, at most LastTime.
func (t Time) Plus(d Time) Time { return min(t, LastTime-min(d, LastTime)) + min(d, LastTime) }

// timeOf returns a number of picoseconds as a time, at most LastTime.
func timeOf(ps float64) Time { return Time(min(ps, float64(LastTime))) }

// TaskID names a task of one Engine, from 0 in order of Add. It is wide
// enough for a simulation that replays a graph for hours.
type TaskID int64

// NoTask is no task.
const NoTask TaskID = -1

// Task is one unit of work. The engine calls its owner when the task starts.
type Task struct {
	Arrival  Time     // not before this: when the host had enqueued it
	Gap      Time     // delay between the last dependency's end and the start: launch latency on the device
	Why      Limit    // what the gap is for
	Priority int32    // lower runs first
	Deps     []TaskID // tasks that must have ended; copied by Add
	Data     any      // handed to the owner; a pointer costs no allocation
}

// Span is when a task ran. Begin is when its resource first served it, which
// may be later than its start when it had to queue.
type Span struct{ Begin, End Time }

// Record tells of a task that has ended.
type Record struct {
	ID    TaskID
	Data  any
	Kind  DemandKind
	Start Time // when the owner was called
	Span  Span
	Spent Spent // Start to End
	// After is the dependency that ended last, and the task started its gap after
	// that; NoTask when the task arrived later still, or had none.
	After TaskID
	Why   Limit // what the gap was for
}
