package tracer

import (
	"errors"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/period"
)

// Auto starts a program that is watched while it runs. Calls run as in mode Direct until they begin to
// repeat themselves: what has been done twice in a row is handed to the engine, and from then on each time that the
// program does it again is a replay. Nothing has to be declared, and the results are the same.
//
// To be replayed, the calls of a repetition are held back until all of them have come, or one has that does
// not belong to it. Then those held back are submitted one by one, in order, as they are before Read, Write, ToHost,
// HostCall, Synchronize and Finish. So look at results through those, and not past the tracer. An error
// in submitting a call that was held back is reported when it is submitted, by the line of the call. Pinned memory may be touched after Synchronize.
//
// Each call is compared with all of the one that it should be: kernel, shape, buffers, slices, values and line. Only scalars that
// were different in the second time may be so again; they are set in place. Buffers that change places
// are traced until they are back where they were. What ends a repetition: another call, a host call, a
// look at results, and Alloc and Free.
func Auto(dev device.Device, name string, engine Engine) *Tracer {
	t := New(dev, name, Direct)
	if engine == nil && t.err == nil {
		t.err = errors.Join(fmt.Errorf("trace %s: %w", name, absent.Nil("the engine")), t.cleanUp())
	}
	t.watch = &watcher{
		t: t, engine: engine, window: make([]moment, 2048),
		same: period.New(mostCalls), alike: period.New(mostCalls), bodies: map[uint64][]*body{},
		refused: make([]refusal, mostCalls+1),
	}
	return t
}

const (
	// mostCalls is the longest repetition that is found, in calls. A replay begins when the last of them has come, and
	// until then the device may have nothing to do; and two of these are remembered, at some 200 bytes a call.
	mostCalls = 1000
	// fewestCalls is what a replay is at least, unless the program looks at results more often: a launch of a graph costs the
	// host about as much as one of a kernel.
	fewestCalls = 4
	// patience is for how many calls without a replay a program is watched that are like nothing before. After that it is for mostly two
	// periods in sixteen, which makes what watching costs a hundredth of a launch.
	patience = 32 * mostCalls
	// effort is how many of these one counts for that may be part of a repetition. It costs three to four times as much to watch, and
	// a program of those that repeats nothing is left alone after two periods.
	effort = patience / (2 * mostCalls)
	// mostBodies is how many repetitions are kept ready. Who is used least recently makes room.
	mostBodies = 32
)

// AutoStats counts what became of the calls of an Auto program.
type AutoStats struct {
	Calls    int // launches, copies, fills and prefetches
	Replayed int // of these, as part of a replay; the others were submitted one by one, or are held back
	Replays  int
	Updates  int // scalars set between replays
	Bodies   int // repetitions that were made replayable
	Misses   int // times that calls were held back, and another followed than the repetition has
	// Reason is why what came last was not replayed; "" when it was.
	Reason string
}

// AutoStats returns the counts so far; all zero if t is not from Auto.
func (t *Tracer) AutoStats() AutoStats {
	if t == nil || t.watch == nil {
		return AutoStats{}
	}
	s := t.watch.stats
	if s.Reason == "" && s.Replays == 0 {
		s.Reason = fmt.Sprintf("no two times in a row did the program do the same, in up to %d calls", mostCalls)
	}
	return s
}
